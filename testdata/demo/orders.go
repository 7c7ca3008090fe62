package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/apache/arrow-go/v18/parquet"
)

const (
	// faultyPart is the part that a fault strikes.
	faultyPart = 1
	// guestEvery says which rows have no customer under faultNulls.
	guestEvery = 1000

	partLength = 24 * time.Hour / partsPerDay

	discountCoupon  = "SPRING10"
	discountPercent = 10
)

// writeDay writes the parts that opts asks for and returns the numbers of rows
// and files. With crashAfter it does not return: the process dies with the last
// file half written.
func writeDay(opts options) (rows, files int, err error) {
	write := func(part int, name string) error {
		n, err := writePart(opts, part, rows, filepath.Join(opts.out, name))
		rows, files = rows+n, files+1
		return err
	}
	for part := range partsPerDay {
		if opts.part != allParts && opts.part != part {
			continue
		}
		if err := write(part, fmt.Sprintf("part-%d.parquet", part)); err != nil {
			return rows, files, err
		}
		if opts.fault == faultDuplicates && part == faultyPart {
			if err := write(part, fmt.Sprintf("part-%d-again.parquet", part)); err != nil {
				return rows, files, err
			}
		}
	}
	return rows, files, nil
}

// writePart writes one file; before is the number of rows written so far.
func writePart(opts options, part, before int, name string) (int, error) {
	f, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	w, err := newOrderWriter(f)
	if err != nil {
		return 0, err
	}
	total := opts.rows*(part+1)/partsPerDay - opts.rows*part/partsPerDay
	g := newGenerator(opts, part)
	for done := 0; done < total; {
		n := min(rowsPerGroup, total-done)
		if left := opts.crashAfter - before - done; opts.crashAfter > 0 && left <= n {
			n = left
		}
		if err := w.writeGroup(g.next(n)); err != nil {
			return done, fmt.Errorf("write %q: %w", name, err)
		}
		if done += n; opts.crashAfter > 0 && before+done == opts.crashAfter {
			return done, die()
		}
	}
	return total, w.close()
}

// die ends this process as the kernel's out-of-memory killer does: no handler
// and no deferred call runs.
func die() error {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	if err := self.Kill(); err != nil {
		return err
	}
	select {} // the signal is on its way
}

// lines is a batch of order lines, column by column. Optional columns hold only
// the values that are there, and a definition level for each row.
type lines struct {
	orderID     []int64
	lineNo      []int32
	customerID  []int64
	hasCustomer []int16
	status      []parquet.ByteArray
	amount      []int64 // hundredths
	country     []parquet.ByteArray
	orderedAt   []int64 // microseconds since 1970, as below
	shippedAt   []int64
	hasShipped  []int16
	coupon      []parquet.ByteArray
	hasCoupon   []int16
	loadedAt    []int64
}

// generator makes the lines of one part of a day. What it draws does not depend
// on fault or discount, so that these change nothing else.
type generator struct {
	opts  options
	part  int
	rng   *rand.Rand
	row   int
	order order // the current one
	left  int   // its lines still to come
}

// order is what the lines of one order share.
type order struct {
	id               int64
	lines            int32 // made so far
	customer         int64
	status, country  string
	coupon           string // "" for none
	ordered, shipped int64
}

func newGenerator(opts options, part int) *generator {
	days := uint64(opts.date.Unix() / 86400)
	return &generator{
		opts: opts,
		part: part,
		rng:  rand.New(rand.NewPCG(days, uint64(part))),
		order: order{
			id:      int64(days)*10_000_000 + int64(part)*2_500_000,
			ordered: opts.date.Add(time.Duration(part) * partLength).UnixMicro(),
		},
	}
}

// next makes n more lines.
func (g *generator) next(n int) *lines {
	b := &lines{}
	loaded := g.opts.date.AddDate(0, 0, 1).Add(2*time.Hour + time.Duration(g.part)*time.Minute).UnixMicro()
	for range n {
		if g.left == 0 {
			g.beginOrder()
		}
		o := &g.order
		g.left--
		o.lines++
		b.orderID = append(b.orderID, o.id)
		b.lineNo = append(b.lineNo, o.lines)
		b.status = append(b.status, parquet.ByteArray(o.status))
		b.country = append(b.country, parquet.ByteArray(o.country))
		b.orderedAt = append(b.orderedAt, o.ordered)
		b.loadedAt = append(b.loadedAt, loaded)
		b.amount = append(b.amount, g.amount())
		b.customerID, b.hasCustomer = appendIf(b.customerID, b.hasCustomer, o.customer, g.customerKnown())
		b.shippedAt, b.hasShipped = appendIf(b.shippedAt, b.hasShipped, o.shipped, o.status != "placed")
		b.coupon, b.hasCoupon = appendIf(b.coupon, b.hasCoupon, parquet.ByteArray(o.coupon), o.coupon != "")
		g.row++
	}
	return b
}

// beginOrder draws what the lines of the next order share.
func (g *generator) beginOrder() {
	// An order has 2.5 lines on average, so a part's orders fill most of its hours.
	step := partLength.Microseconds() * 4 * partsPerDay / int64(g.opts.rows)
	ordered := g.order.ordered + g.rng.Int64N(max(1, step))
	u := g.rng.Float64() // cubed, so that a few customers place most orders
	g.left = 1 + g.rng.IntN(4)
	g.order = order{
		id:       g.order.id + 1,
		customer: 1 + int64(u*u*u*50_000),
		country:  weighted(g.rng, []string{"NO", "SE", "DK", "DE", "NL", "GB"}, []int{30, 20, 15, 20, 10, 5}),
		status:   weighted(g.rng, []string{"shipped", "placed", "returned"}, []int{82, 13, 5}),
		coupon:   weighted(g.rng, []string{"", discountCoupon, "WELCOME", "FREESHIP"}, []int{70, 12, 10, 8}),
		ordered:  ordered,
		shipped:  ordered + (2 * time.Hour).Microseconds() + g.rng.Int64N((70 * time.Hour).Microseconds()),
	}
}

func (g *generator) amount() int64 {
	u := g.rng.Float64()
	cents := 99 + int64(u*u*u*40_000)
	if g.opts.discount && g.order.coupon == discountCoupon {
		cents -= cents * discountPercent / 100
	}
	return cents
}

func (g *generator) customerKnown() bool {
	return g.opts.fault != faultNulls || g.part != faultyPart || g.row%guestEvery != 0
}

// appendIf adds an optional value and its definition level.
func appendIf[T any](values []T, levels []int16, v T, there bool) ([]T, []int16) {
	if there {
		return append(values, v), append(levels, 1)
	}
	return values, append(levels, 0)
}

// weighted draws one of names; weights are percentages that add up to 100.
func weighted(rng *rand.Rand, names []string, weights []int) string {
	n := rng.IntN(100)
	for i, w := range weights {
		if n -= w; n < 0 {
			return names[i]
		}
	}
	panic(fmt.Sprintf("weights %v do not add up to 100", weights))
}
