package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// comparison holds the rounds of one task, each run once by everybody.
type comparison struct {
	name   string
	rounds []round
}

type round struct{ wap, duck, floor usage }

func (b *bench) compare(d dataset, t task) (comparison, error) {
	c := comparison{name: d.name + ": " + t.name}
	b = b.on(t)
	for i := range b.repeat {
		var r round
		var err error
		var got, want map[string]string
		if r.wap, got, err = b.check(d, t); err != nil {
			return c, err
		}
		if t.query != "" {
			if r.duck, want, err = b.measureSQL([]string{t.query}); err != nil {
				return c, err
			}
			if !maps.Equal(got, want) {
				return c, fmt.Errorf("wap found %v, DuckDB %v", got, want)
			}
		}
		if r.floor, err = b.measureSelf("floor", d.path, strings.Join(t.values, ","), strings.Join(t.levels, ",")); err != nil {
			return c, err
		}
		c.rounds = append(c.rounds, r)
		fmt.Fprintf(b.log, "%s, round %d: wap %.2f s, DuckDB %.2f s, floor %.2f s; found %v\n",
			c.name, i+1, r.wap.wall.Seconds(), r.duck.wall.Seconds(), r.floor.wall.Seconds(), got)
	}
	return c, nil
}

// median is the middle of what value gives for each round, the higher one of two.
func (c comparison) median(value func(r round) float64) float64 {
	list := make([]float64, len(c.rounds))
	for i, r := range c.rounds {
		list[i] = value(r)
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// print writes the medians: of ratios within rounds, not ratios of medians.
func (b *bench) print() error {
	w := tabwriter.NewWriter(b.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%d rows, %d threads, medians of %d rounds\n", b.rows, b.threads, b.repeat)
	fmt.Fprintln(w, "work\ttime, DuckDB ÷ wap\tCPU, DuckDB ÷ wap\tpeak of wap\tpeak of DuckDB\ttime, wap ÷ floor\tCPU, wap ÷ floor\t")
	for _, c := range b.comparisons {
		cell := func(format string, value func(r round) float64) string {
			// Nothing of DuckDB's is known where it was not asked.
			if v := c.median(value); v > 0 {
				return fmt.Sprintf(format, v)
			}
			return "–"
		}
		fmt.Fprintln(w, strings.Join([]string{
			c.name,
			cell("%.2f", func(r round) float64 { return float64(r.duck.wall) / float64(r.wap.wall) }),
			cell("%.2f", func(r round) float64 { return float64(r.duck.cpu) / float64(r.wap.cpu) }),
			cell("%.0f MiB", func(r round) float64 { return mib(r.wap.peak) }),
			cell("%.0f MiB", func(r round) float64 { return mib(r.duck.peak) }),
			cell("%.2f", func(r round) float64 { return float64(r.wap.wall) / float64(r.floor.wall) }),
			cell("%.2f", func(r round) float64 { return float64(r.wap.cpu) / float64(r.floor.cpu) }),
		}, "\t")+"\t")
	}
	return w.Flush()
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }
