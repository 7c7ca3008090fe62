package audit

import (
	"fmt"
	"slices"
	"strings"
)

// hidden reports whether the column's values may not be shown, its first and
// last included.
func (i *intervals) hidden() bool { return redacted(i.check, i.leaf.Dotted) }

// missing are intervals of a group between two bounds.
type missing struct{ first, last, n int64 }

// show tells where some of a group's missing intervals begin.
func (i *intervals) show(v *verdict, g *filled, lack missing) {
	room := i.check.Samples - int64(len(v.samples))
	switch {
	case len(i.by) > 0:
		for _, begin := range i.lacking(g, lack.first, lack.last, min(lack.n, room)) {
			cell := Value{Column: i.leaf.Dotted, Text: "none from " + begin}
			if i.hidden() {
				cell.Text = redactedText
			}
			at := g.first
			at.Values = append(slices.Clone(at.Values), cell)
			v.samples = append(v.samples, at)
		}
	case !i.hidden():
		shown := i.lacking(g, lack.first, lack.last, maxMissing)
		v.message = "nothing from " + strings.Join(shown, ", ")
		if more := lack.n - int64(len(shown)); more > 0 {
			v.message += fmt.Sprintf(", and %d more", more)
		}
	}
}

// lacking are the beginnings of up to most intervals of a group without a value.
func (i *intervals) lacking(g *filled, first, last, most int64) []string {
	var list []string
	for n := first; n <= last && int64(len(list)) < most; n++ {
		if g.blocks[n>>6]>>(n&63)&1 == 0 {
			list = append(list, i.begin(n))
		}
	}
	return list
}
