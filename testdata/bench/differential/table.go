package differential

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	_ "github.com/duckdb/duckdb-go/v2"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/audit/scan"
)

// lab is a database for one case after another.
type lab struct {
	db  *sql.DB
	dir string
}

func open(dir string) (*lab, error) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	db.SetMaxOpenConns(1)
	l := &lab{db, dir}
	setup := []string{"SET threads = 1", "SET TimeZone = 'UTC'"}
	for _, name := range slices.Sorted(maps.Keys(comparisons())) {
		op := comparisons()[name]
		whenNaN := fmt.Sprint(op == "<>")
		setup = append(setup, fmt.Sprintf(
			"CREATE MACRO %s(a, b) AS CASE WHEN a IS NULL OR b IS NULL THEN NULL WHEN isnan(a) OR isnan(b) THEN %s ELSE a %s b END", name, whenNaN, op))
	}
	for _, s := range setup {
		if err := l.exec(s); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// comparisons are macros for IEEE 754's.
func comparisons() map[string]string {
	return map[string]string{"feq": "=", "fne": "<>", "flt": "<", "fle": "<=", "fgt": ">", "fge": ">="}
}

func (l *lab) exec(statement string) error {
	if _, err := l.db.Exec(statement); err != nil {
		return fmt.Errorf("%.500s: %w", statement, err)
	}
	return nil
}

// table is a random table, in DuckDB as t and in files.
type table struct {
	columns []column
	rows    int
	files   []string
}

func (l *lab) table(r *rand.Rand) (*table, error) {
	t := &table{rows: []int{0, 1, 5, 30, 200}[min(4, r.IntN(14)/2)]}
	for i := range 2 + r.IntN(5) {
		c := newColumn(r, fmt.Sprintf("c%d", i), t.rows)
		for i == 0 && c.kind == lists { // a condition needs something to be about
			c = newColumn(r, c.name, t.rows)
		}
		t.columns = append(t.columns, c)
	}
	times := 1
	if r.IntN(12) == 0 {
		times = 30 // more than one row group
	}
	if err := l.exec(t.create(times)); err != nil {
		return nil, err
	}
	t.rows *= times
	return t, l.write(r, t)
}

func (t *table) create(times int) string {
	var casts, names []string
	for _, c := range t.columns {
		casts = append(casts, fmt.Sprintf("CAST(%s AS %s) AS %s", c.name, c.duck, c.name))
		names = append(names, c.name)
	}
	var rows []string
	for i := range max(1, t.rows) {
		cells := []string{fmt.Sprint(i)}
		for _, c := range t.columns {
			if t.rows == 0 {
				cells = append(cells, "NULL")
			} else {
				cells = append(cells, c.values[i])
			}
		}
		rows = append(rows, "("+strings.Join(cells, ", ")+")")
	}
	return fmt.Sprintf("CREATE OR REPLACE TABLE t AS SELECT n + m * %d AS rn, %s FROM (VALUES %s) v(n, %s), range(%d) m(m) WHERE %t ORDER BY rn",
		t.rows, strings.Join(casts, ", "), strings.Join(rows, ", "), strings.Join(names, ", "), times, t.rows > 0)
}

// write splits the table over one file or more, written in random ways.
func (l *lab) write(r *rand.Rand, t *table) error {
	var names []string
	for _, c := range t.columns {
		names = append(names, c.name)
	}
	parts := 1 + r.IntN(3)
	for i := range parts {
		path := filepath.Join(l.dir, fmt.Sprintf("part-%d.parquet", i))
		options := []string{"FORMAT parquet", "ROW_GROUP_SIZE 2048",
			"COMPRESSION " + []string{"uncompressed", "snappy", "zstd", "gzip", "lz4_raw", "brotli"}[r.IntN(6)],
			"PARQUET_VERSION " + []string{"v1", "v2"}[r.IntN(2)]}
		if r.IntN(3) == 0 {
			options = append(options, "DICTIONARY_SIZE_LIMIT 0")
		}
		if err := l.exec(fmt.Sprintf("COPY (SELECT %s FROM t WHERE rn >= %d AND rn < %d ORDER BY rn) TO '%s' (%s)", strings.Join(names, ", "),
			t.rows*i/parts, t.rows*(i+1)/parts, path, strings.Join(options, ", "))); err != nil {
			return err
		}
		t.files = append(t.files, path)
	}
	return nil
}

// source opens the files for wap; done closes them.
func (t *table) source() (files []audit.File, done func(), err error) {
	var opened []*os.File
	done = func() {
		for _, f := range opened {
			_ = f.Close() // nothing was written
		}
	}
	for _, path := range t.files {
		f, err := os.Open(path)
		if err != nil {
			return nil, done, err
		}
		opened = append(opened, f)
		info, err := f.Stat()
		if err != nil {
			return nil, done, err
		}
		files = append(files, audit.File{Key: filepath.Base(path), Source: scan.ReaderAt(f, info.Size())})
	}
	return files, done, nil
}

// answers asks DuckDB for one text each.
func (l *lab) answers(ctx context.Context, queries []string) ([]string, error) {
	cells, into := make([]sql.NullString, len(queries)), make([]any, len(queries))
	for i := range cells {
		into[i] = &cells[i]
	}
	all := "SELECT " + strings.Join(queries, ",\n")
	if err := l.db.QueryRowContext(ctx, all).Scan(into...); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, all)
	}
	out := make([]string, len(cells))
	for i, c := range cells {
		if out[i] = c.String; !c.Valid {
			out[i] = "NULL"
		}
	}
	return out, nil
}
