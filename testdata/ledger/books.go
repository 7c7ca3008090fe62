package main

import "math/rand/v2"

// What the books of the night have to say.
const (
	tasks     = 16
	customers = 796
	cents     = 74_558_550
)

// entry is one row: a customer's turnover of the day.
type entry struct {
	customer int64
	cents    int64
}

// share is what one task contributes.
type share struct{ customers, cents int64 }

// shares returns each task's contribution. Those of the tasks that something
// happens to are given, cents = 0 meaning only the customers; the others divide
// what is left to the books' totals.
func shares() []share {
	all := make([]share, tasks)
	all[2] = share{customers: 53}
	all[3] = share{customers: 78, cents: 7_139_987}
	all[4] = share{customers: 73}
	all[5] = share{customers: 59, cents: 3_844_716}
	all[7] = share{customers: 71, cents: 14_109_253}

	var freeCustomers, freeCents []int
	leftCustomers, leftCents := int64(customers), int64(cents)
	for i, s := range all {
		leftCustomers -= s.customers
		leftCents -= s.cents
		if s.customers == 0 {
			freeCustomers = append(freeCustomers, i)
		}
		if s.cents == 0 {
			freeCents = append(freeCents, i)
		}
	}
	for k, n := range divide(leftCustomers, len(freeCustomers), 1) {
		all[freeCustomers[k]].customers = n
	}
	for k, n := range divide(leftCents, len(freeCents), 2) {
		all[freeCents[k]].cents = n
	}
	return all
}

// entries returns the rows of a task, always the same ones. No customer is in
// two tasks.
func entries(task int) []entry {
	first := int64(1001)
	for _, s := range shares()[:task] {
		first += s.customers
	}
	mine := shares()[task]
	rows := make([]entry, 0, mine.customers)
	for i, n := range divide(mine.cents, int(mine.customers), uint64(100+task)) {
		rows = append(rows, entry{customer: first + int64(i), cents: n})
	}
	return rows
}

// divide splits total into n uneven parts that add up to it exactly.
func divide(total int64, n int, seed uint64) []int64 {
	rng := rand.New(rand.NewPCG(seed, 0))
	weights := make([]int64, n)
	var sum int64
	for i := range weights {
		weights[i] = 80 + rng.Int64N(41)
		sum += weights[i]
	}
	parts := make([]int64, n)
	left := total
	for i, w := range weights {
		parts[i] = total * w / sum
		left -= parts[i]
	}
	parts[n-1] += left
	return parts
}
