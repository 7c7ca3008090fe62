package audit

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"

	"github.com/wap-cli/wap/audit/scan"
)

// valueOf is value i of a column as made-up rows hold it; nil where they cannot.
func valueOf(c *scan.Column, v *scan.Values, i int) madeValue {
	switch classOf(c) {
	case boolean:
		return v.Bools[i]
	case signed, unsigned, wide:
		n := exactAt(c, v, i)
		if low, high := typeEnds(c.Type); n.Cmp(low) < 0 || n.Cmp(high) > 0 {
			return nil
		}
		return n
	case floating:
		return c.FloatAt(v, i)
	case texts:
		return string(v.Bytes.At(i))
	}
	return nil
}

// valueNumber is the nth of as many different values of a type, or nil.
func valueNumber(t scan.Type, n int) madeValue {
	c := madeColumn{typ: t}
	switch classOf(c.leafOf()) {
	case boolean:
		if n < 2 {
			return n == 1
		}
	case signed, unsigned, wide:
		if _, high := typeEnds(t); high.Cmp(big.NewInt(int64(n))) >= 0 {
			return big.NewInt(int64(n))
		}
	case floating:
		return float64(n)
	case texts:
		text := fmt.Sprintf("%016d", n)
		if t.Kind != scan.FixedBinary || t.Width == len(text) {
			return text
		}
	}
	return nil
}

// tinyFile is a file with columns of one row.
func tinyFile(columns ...madeColumn) ([]byte, error) {
	columns = append(slices.Clone(columns), madeColumn{path: "wap_row", typ: scan.Type{Kind: scan.Int64}, required: true})
	row := make([]madeValue, len(columns))
	for i := range columns {
		if columns[i].required {
			row[i] = valueNumber(columns[i].typ, 0)
		}
	}
	return (&madeTable{columns: columns, rows: [][]madeValue{row}, times: 1}).parquet()
}

// findFiles tries as many files, and files as large, as the rule compares with.
func (a *attempt) findFiles(ctx context.Context) ([][]madeValue, error) {
	data, err := tinyFile()
	if err != nil {
		return nil, err
	}
	found := [][]madeValue{{}}
	for _, name := range []string{"min", "max"} {
		limit, ok := get[int64](a.check, name)
		if !ok {
			continue
		}
		for _, n := range []int64{max(limit, 1) - 1, limit + 1} {
			var files []File
			switch {
			case a.check.Type == "file_size":
				files = []File{{Key: "made-up.parquet", Source: padded(data, n)}}
			case n > 2000:
				a.complete = false
				continue
			default:
				for i := range n {
					f := memoryOf(data)
					f.Key = fmt.Sprintf("made-up-%d.parquet", i)
					files = append(files, f)
				}
			}
			r, err := a.run(ctx, a.check, files...)
			if err != nil {
				return nil, err
			}
			if failsRule(a.check, r) {
				return found, nil
			}
		}
	}
	a.complete = a.complete || a.check.Type == "file_size"
	return nil, nil
}

// padding is a file with nothing between its data and its footer.
type padding struct {
	data []byte
	gap  int64 // bytes of 0
	tail int64 // where it begins
}

// padded makes data as large as size, or leaves it as it is.
func padded(data []byte, size int64) scan.Source {
	n := len(data)
	footer := int64(binary.LittleEndian.Uint32(data[n-8:])) + 8
	return padding{data, max(0, size-int64(n)), int64(n) - footer}
}

func (p padding) Size() int64 { return int64(len(p.data)) + p.gap }

func (p padding) ReadRange(ctx context.Context, dst []byte, off int64) error {
	for len(dst) > 0 {
		n, from := int64(len(dst)), off
		switch {
		case off < p.tail:
			n = min(n, p.tail-off)
		case off < p.tail+p.gap:
			n, from = min(n, p.tail+p.gap-off), -1
		default:
			from = off - p.gap
		}
		if from < 0 {
			clear(dst[:n])
		} else if err := scan.ReaderAt(bytes.NewReader(p.data), int64(len(p.data))).ReadRange(ctx, dst[:n], from); err != nil {
			return err
		}
		dst, off = dst[n:], off+n
	}
	return nil
}

// findSchema tries files that lack columns, have others, or have them otherwise.
func (a *attempt) findSchema(ctx context.Context) ([][]madeValue, error) {
	specs, _ := get[[]columnSpec](a.check, "columns")
	forbidden, _ := get[[]string](a.check, "forbidden")
	plainType := scan.Type{Kind: scan.Int64}
	var good []madeColumn
	for _, spec := range specs {
		c := madeColumn{path: spec.Name, typ: plainType, required: spec.Nullable != nil && !*spec.Nullable}
		if t, err := scan.ParseType(spec.Type); err == nil && made(t) {
			c.typ = t
		}
		good = append(good, c)
	}
	tables := [][]madeColumn{{}, good}
	for i := range good {
		other := slices.Clone(good)
		if other[i].typ = (scan.Type{Kind: scan.Bool}); good[i].typ.Kind == scan.Bool {
			other[i].typ = plainType
		}
		loose := slices.Clone(good)
		loose[i].required = !loose[i].required
		tables = append(tables, other, loose)
	}
	for _, name := range forbidden {
		tables = append(tables, append(slices.Clone(good), madeColumn{path: name, typ: plainType}))
	}
	for _, columns := range tables {
		data, err := tinyFile(columns...)
		if err != nil {
			return nil, err
		}
		r, err := a.run(ctx, a.check, memoryOf(data))
		if err != nil {
			return nil, err
		}
		if failsRule(a.check, r) {
			return [][]madeValue{{}}, nil
		}
	}
	return nil, nil
}
