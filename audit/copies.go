package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// copied counts surplus rows by the file that their key stands in first, and the
// one that they stand in themselves.
type copied struct {
	rows map[filePair]int64
	lost bool // there were more pairs than are kept
}

type filePair struct{ first, again *openFile }

// maxPairs bounds what is kept: who repeats so much repeats no output.
const maxPairs = 1 << 16

func (c *copied) add(first, again *openFile, rows int64) {
	if rows == 0 {
		return
	}
	if c.rows == nil {
		c.rows = map[filePair]int64{}
	}
	pair := filePair{first, again}
	if _, known := c.rows[pair]; !known && len(c.rows) >= maxPairs {
		c.lost = true
		return
	}
	c.rows[pair] += rows
}

func (c *copied) merge(o copied) {
	c.lost = c.lost || o.lost
	for pair, rows := range o.rows {
		c.add(pair.first, pair.again, rows)
	}
}

// list are the pairs in the order of the files' names.
func (c *copied) list() []filePair {
	var pairs []filePair
	for pair := range c.rows {
		pairs = append(pairs, pair)
	}
	slices.SortFunc(pairs, func(a, b filePair) int {
		return cmp.Or(cmp.Compare(a.again.Key, b.again.Key), cmp.Compare(a.first.Key, b.first.Key))
	})
	return pairs
}

// whole are the files of which every row is surplus, when no other rows are.
func (c *copied) whole() (files []*openFile, ok bool) {
	rows := map[*openFile]int64{}
	for _, pair := range c.list() {
		if rows[pair.again] == 0 {
			files = append(files, pair.again)
		}
		rows[pair.again] += c.rows[pair]
	}
	for _, f := range files {
		if f.scan == nil || f.scan.Footer().Rows != rows[f] {
			return nil, false
		}
	}
	return files, !c.lost && len(files) > 0
}

// writer is who wrote a file, as far as that is known.
func (f *openFile) writer() string {
	var parts []string
	for _, part := range [][2]string{{"task", f.Task}, {"attempt", f.Attempt}, {"run", f.Run}} {
		if part[1] != "" {
			parts = append(parts, part[0]+" "+part[1])
		}
	}
	return strings.Join(parts, ", ")
}

// maxShownPairs is how many pairs of files a report names.
const maxShownPairs = 12

// places says where surplus rows stand: who wrote them, and in which files their
// keys stand first.
func (c *copied) places() []string {
	var lines []string
	if c.lost {
		return []string{fmt.Sprintf("they stand in more than %d pairs of files", maxPairs)}
	}
	byWriter, order := map[string]int64{}, []string{}
	pairs := c.list()
	for _, pair := range pairs {
		w := pair.again.writer()
		if w != "" && byWriter[w] == 0 {
			order = append(order, w)
		}
		byWriter[w] += c.rows[pair]
	}
	for _, w := range order[:min(len(order), maxShownPairs)] {
		lines = append(lines, fmt.Sprintf("%s of %s", plural(byWriter[w], "surplus row"), w))
	}
	for _, pair := range pairs[:min(len(pairs), maxShownPairs)] {
		first := pair.first.Key
		if pair.first == pair.again {
			first = "the same file"
		}
		if pair.first.live {
			first += ", which is live"
		}
		lines = append(lines, fmt.Sprintf("%s has %s of %s", pair.again.Key, plural(c.rows[pair], "key"), first))
	}
	if more := len(pairs) - maxShownPairs; more > 0 {
		lines = append(lines, fmt.Sprintf("and %s", plural(more, "more pair")))
	}
	return lines
}
