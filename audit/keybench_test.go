package audit

import (
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
)

// BenchmarkKeys takes in twenty million keys on two goroutines, as they come
// from row groups, and looks for repeated ones.
func BenchmarkKeys(b *testing.B) {
	const rows, batch = 20_000_000, 8192
	for _, bench := range []struct {
		name  string
		dense bool
	}{{"hashes", false}, {"integers", true}} {
		b.Run(bench.name, func(b *testing.B) {
			before := cpuTime()
			for b.Loop() {
				k := &keyWriters{set: keyset{budget: 1 << 30, unitBits: 6}}
				if bench.dense {
					k.dense = newDenseKeys(intRange{0, rows - 1})
				}
				var group sync.WaitGroup
				for half := range uint64(2) {
					group.Go(func() {
						rng := rand.New(rand.NewPCG(half, 1))
						list := make([]uint64, batch)
						for n := range uint64(rows / batch / 2) {
							w := k.take()
							if bench.dense {
								for i := range list {
									row := (2*n+half)*batch + uint64(i)
									list[i] = row * 1_236_067_977 % rows
								}
								w.dense.add(list, 0)
							} else {
								for i := range list {
									list[i] = rng.Uint64()
								}
								w.add(list, 0)
							}
							k.give(w)
						}
					})
				}
				group.Wait()
				k.finish()
				if err := k.set.repeated(1<<20, 2, func(candidates) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((cpuTime()-before)/float64(b.N)/rows, "cpu-ns/row")
		})
	}
}

func cpuTime() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return float64(r.Utime.Nano() + r.Stime.Nano())
}
