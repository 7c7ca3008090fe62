package audit

import (
	"context"
	"fmt"
	"strconv"

	"github.com/wap-cli/wap/manifest"
)

// countKinds compare what is known without reading a page.
func countKinds() []*kind {
	return []*kind{
		{
			name: "row_count", aliases: []string{"number_of_rows"}, scalar: "equals",
			params: comparison(count), verify: oneComparison,
			where: true,
			bind: func(c *Check, b *binding) (assertion, error) {
				if c.Where != nil {
					return &rowTally{check: c}, nil
				}
				b.need(needFooters)
				return &counted{check: c, observe: countRows}, nil
			},
		},
		{
			name: "file_count", params: minMax(count), verify: oneComparison,
			bind: func(c *Check, b *binding) (assertion, error) {
				return &counted{check: c, observe: countFiles}, nil
			},
		},
		{
			name: "file_size", params: minMax(size), verify: oneComparison,
			bind: func(c *Check, b *binding) (assertion, error) { return &fileSizes{counted{check: c}}, nil },
		},
	}
}

// counted is an assertion about a number that the footers or the listing tell.
type counted struct {
	check   *Check
	observe func(p *judgement) (value int64, metrics []manifest.Metric)
}

func (c *counted) open(*unit) state { return nil }
func (c *counted) merge(state)      {}

func (c *counted) finish(_ context.Context, p *judgement) verdict {
	n, metrics := c.observe(p)
	lo, hi := integerBounds(c.check)
	return verdict{
		holds: n >= lo && n <= hi, observed: strconv.FormatInt(n, 10), expected: comparisonText(c.check),
		grade: GradeFooter, counts: []Count{}, metrics: metrics, tested: p.rows,
	}
}

func countRows(p *judgement) (int64, []manifest.Metric) { return p.rows, nil }

func countFiles(p *judgement) (int64, []manifest.Metric) { return int64(len(p.part.Files)), nil }

// fileSizes judges each file's bytes.
type fileSizes struct{ counted }

func (f *fileSizes) finish(_ context.Context, p *judgement) verdict {
	lo, hi := integerBounds(f.check)
	v := verdict{holds: true, expected: comparisonText(f.check) + " bytes", grade: GradeFooter, counts: []Count{}}
	outside, first := int64(0), ""
	for _, file := range p.part.Files {
		if n := file.Source.Size(); n < lo || n > hi {
			if outside++; first == "" {
				first = fmt.Sprintf("%s has %d bytes", file.Key, n)
			}
		}
	}
	v.observed = fmt.Sprintf("%d of %d files outside", outside, len(p.part.Files))
	if outside > 0 {
		v.holds, v.message = false, first
	}
	v.counts = []Count{{"files_outside", outside}}
	return v
}
