package audit

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/wap-cli/wap/audit/scan"
	"github.com/zeebo/xxh3"
)

// RowDigest stands for the rows of some files as a multiset: equal for the same
// rows in any order, files, row groups, encodings and codecs; different when a
// row stands a different number of times. Each row is hashed twice to 128 bits
// and the hashes are added up modulo 2^128.
type RowDigest struct {
	Rows    int64          `json:"rows"`
	Columns []DigestColumn `json:"columns"` // sorted by path
	Sum     string         `json:"sum"`     // 64 hex digits
}

// DigestColumn is one leaf that went into a digest.
type DigestColumn struct {
	Path string `json:"path"`
	Type string `json:"type"`
}

// Equal reports whether both stand for the same rows.
func (d RowDigest) Equal(o RowDigest) bool { return d.Diff(o) == "" }

// Diff says how o differs from d, or nothing when it does not.
func (d RowDigest) Diff(o RowDigest) string {
	types := map[string]string{}
	for _, c := range d.Columns {
		types[c.Path] = c.Type
	}
	for _, c := range o.Columns {
		switch have, ok := types[c.Path]; {
		case !ok:
			return fmt.Sprintf("column %s is new", c.Path)
		case have != c.Type:
			return fmt.Sprintf("column %s is %s instead of %s", c.Path, c.Type, have)
		}
		delete(types, c.Path)
	}
	for _, c := range d.Columns {
		if _, gone := types[c.Path]; gone {
			return fmt.Sprintf("column %s is missing", c.Path)
		}
	}
	switch {
	case d.Rows != o.Rows:
		return fmt.Sprintf("%d rows instead of %d", o.Rows, d.Rows)
	case d.Sum != o.Sum:
		return fmt.Sprintf("the same number of rows, %d, with other values", d.Rows)
	}
	return ""
}

// Fingerprint digests the rows of all files together, without the columns in
// ignore: paths, which also stand for what is below them. Files whose schemas
// differ are an error, as is a file that cannot be read: a *scan.Error when the
// file is at fault.
func Fingerprint(ctx context.Context, files []File, ignore []string, opts Options) (RowDigest, error) {
	a := newAudit(opts, 1)
	var out RowDigest
	var sum wideSum
	for i, f := range files {
		file, err := scan.Open(ctx, a.counted(f.Source), a.scan)
		if err != nil {
			return RowDigest{}, fmt.Errorf("fingerprint %q: %w", f.Key, err)
		}
		leaves, columns := digestColumns(file, ignore)
		switch {
		case i == 0:
			out.Columns = columns
		case !slices.Equal(columns, out.Columns):
			other := RowDigest{Columns: columns}
			first := RowDigest{Columns: out.Columns}
			return RowDigest{}, fmt.Errorf("fingerprint %q: its schema differs from %q: %s", f.Key, files[0].Key, first.Diff(other))
		}
		if err := digestFile(ctx, file, leaves, &sum); err != nil {
			return RowDigest{}, fmt.Errorf("fingerprint %q: %w", f.Key, err)
		}
		out.Rows += file.Footer().Rows
	}
	out.Sum = sum.String()
	return out, nil
}

// digestColumns picks the leaves in the order of their paths.
func digestColumns(f *scan.File, ignore []string) (leaves []int, columns []DigestColumn) {
	for _, c := range f.Columns() {
		ignored := slices.ContainsFunc(ignore, func(path string) bool {
			rest, ok := strings.CutPrefix(c.Dotted, path)
			return ok && (rest == "" || strings.ContainsAny(rest[:1], ".[{"))
		})
		if !ignored {
			leaves = append(leaves, c.Index)
		}
	}
	all := f.Columns()
	slices.SortStableFunc(leaves, func(a, b int) int { return strings.Compare(all[a].Dotted, all[b].Dotted) })
	for _, leaf := range leaves {
		columns = append(columns, DigestColumn{all[leaf].Dotted, all[leaf].Type.String()})
	}
	return leaves, columns
}

func digestFile(ctx context.Context, f *scan.File, leaves []int, sum *wideSum) error {
	var req scan.Request
	for _, leaf := range leaves {
		req.Columns = append(req.Columns, scan.ColumnNeed{Column: leaf, Need: scan.ReadValues})
	}
	r := rowEncoder{}
	for group := range f.Footer().RowGroups {
		err := f.ScanRowGroup(ctx, group, req, func(b *scan.Batch) error {
			r.add(b, sum)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// rowEncoder writes each row of a batch as bytes that are equal exactly when the
// rows are.
type rowEncoder struct {
	rows  [][]byte
	scrap []byte
}

func (e *rowEncoder) add(b *scan.Batch, sum *wideSum) {
	e.start(b.Rows)
	for i := range b.Columns {
		e.column(&b.Columns[i])
	}
	for _, row := range e.rows[:b.Rows] {
		sum.add(row)
	}
}

// start empties the first n rows.
func (e *rowEncoder) start(n int) {
	for len(e.rows) < n {
		e.rows = append(e.rows, nil)
	}
	for i := range n {
		e.rows[i] = e.rows[i][:0]
	}
}

// column appends one column to every row: for each entry its levels, so that
// NULL, an empty list and a list of NULL differ, and its value with its length.
// Two files whose columns differ in being nullable give what is there, and what
// is not, the same mark.
func (e *rowEncoder) column(vec *scan.Vector) {
	row, next := -1, 0
	for i := range vec.Entries {
		if vec.Rep == nil || vec.Rep[i] == 0 {
			if row >= 0 {
				e.rows[row] = append(e.rows[row], endOfColumn)
			}
			row++
		} else {
			e.rows[row] = append(e.rows[row], vec.Rep[i])
		}
		if vec.IsNull(i) {
			e.rows[row] = append(e.rows[row], vec.Column.Absent[vec.Def[i]])
			continue
		}
		values, pos := vec.Lookup(next)
		next++
		e.scrap = appendKey(e.scrap[:0], vec.Column, values, pos)
		e.rows[row] = append(e.rows[row], 0)
		e.rows[row] = binary.AppendUvarint(e.rows[row], uint64(len(e.scrap)))
		e.rows[row] = append(e.rows[row], e.scrap...)
	}
	if row >= 0 {
		e.rows[row] = append(e.rows[row], endOfColumn)
	}
}

// endOfColumn is above every level.
const endOfColumn = 0xff

// wideSum adds two 128-bit hashes of each row.
type wideSum [2]xxh3.Uint128

func (s *wideSum) add(row []byte) {
	for i, seed := range [2]uint64{0x7761702d726f7773, 0x9e3779b97f4a7c15} {
		h := xxh3.Hash128Seed(row, seed)
		var carry uint64
		s[i].Lo, carry = bits.Add64(s[i].Lo, h.Lo, 0)
		s[i].Hi, _ = bits.Add64(s[i].Hi, h.Hi, carry)
	}
}

func (s *wideSum) String() string {
	var b []byte
	for _, half := range s {
		b = binary.BigEndian.AppendUint64(b, half.Hi)
		b = binary.BigEndian.AppendUint64(b, half.Lo)
	}
	return hex.EncodeToString(b)
}
