package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	groupRows = 500_000
	smallRows = 2_000 // of one of the many small files
	stride    = 1_236_067_977
)

// coprime is a stride that visits each of n places once.
func coprime(n int64) int64 {
	gcd := func(a, b int64) int64 {
		for b != 0 {
			a, b = b, a%b
		}
		return a
	}
	s := int64(stride)
	for gcd(s, n) != 1 {
		s += 2
	}
	return s
}

// shape is how a data set made here departs from the plain one.
type shape struct {
	id, key, note string // SQL over row number i
	more          string
}

func plain(rows int64) shape {
	return shape{
		id:   fmt.Sprintf("(i * %d) %% %d", coprime(rows), rows),
		key:  "substr(md5(i::VARCHAR), 1, 27)",
		note: "'note ' || (hash(i) % 100000)",
	}
}

// rowsOf selects rows [from, to).
func (s shape) rowsOf(from, to int64) string {
	return fmt.Sprintf(`SELECT (%s)::BIGINT AS id, %s AS key,
  ((hash(i) %% 10000000) / 100)::DECIMAL(18, 2) AS amount,
  CASE WHEN hash(i + 7) %% 100 = 0 THEN NULL ELSE hash(i) / 1e15 END::DOUBLE AS score,
  TIMESTAMP '2025-01-01' + to_seconds((hash(i * 3) %% 31536000)::INT) AS ts,
  ['placed', 'shipped', 'returned', 'cancelled', 'lost'][(hash(i) %% 5 + 1)::INT] AS status,
  CASE WHEN hash(i + 9) %% 10 = 0 THEN NULL ELSE %s END AS note%s
FROM range(%d, %d) r(i)`, s.id, s.key, s.note, s.more, from, to)
}

func copyTo(query, path string) string {
	return fmt.Sprintf("COPY (%s) TO '%s' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE %d)", query, path, groupRows)
}

// datasets makes what is missing in the cache folder and describes everything.
func (b *bench) datasets() ([]dataset, error) {
	dir := filepath.Join(b.dir, fmt.Sprintf("rows-%d", b.rows))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make cache folder: %w", err)
	}
	p := plain(b.rows)
	main := orders("main", filepath.Join(dir, "main.parquet"))
	main.wide = []string{"key", "score", "ts", "note"}
	sorted := orders("sorted", filepath.Join(dir, "sorted.parquet"))
	dict := orders("dictionaries", filepath.Join(dir, "dictionaries.parquet"))
	dict.textKey = []string{"key", "line"}
	pages := orders("1 MiB pages", filepath.Join(dir, "pages.parquet"))
	small := orders("small files", filepath.Join(dir, "small"))
	small.glob = small.path + "/*.parquet"

	ordered, repeating := p, p
	ordered.id, ordered.key = "i", "printf('order-%021d', i)"
	repeating.key, repeating.more = "substr(md5((i % 20000)::VARCHAR), 1, 27)", ", (i // 20000)::INT AS line"
	repeating.note = "'note ' || (hash(i) % 1000)"
	for _, f := range []struct {
		dataset
		sql func(path string) []string
	}{
		{main, func(path string) []string { return []string{copyTo(p.rowsOf(0, b.rows), path)} }},
		{sorted, func(path string) []string { return []string{copyTo(ordered.rowsOf(0, b.rows), path)} }},
		{dict, func(path string) []string { return []string{copyTo(repeating.rowsOf(0, b.rows), path)} }},
		{small, func(path string) []string { return smallFiles(p, b.rows, path) }},
	} {
		if err := b.once(f.dataset, func(path string) error {
			_, err := b.sql(f.sql(path))
			return err
		}); err != nil {
			return nil, err
		}
	}
	if err := b.once(pages, func(path string) error { return b.self("write-pages", path, fmt.Sprint(b.rows)) }); err != nil {
		return nil, err
	}
	all := []dataset{main, sorted, dict, pages, small}
	if b.keys > 0 {
		keys, err := b.keysAlone(p)
		if err != nil {
			return nil, err
		}
		all = append(all, keys)
	}
	if _, err := os.Stat(b.flights); err == nil {
		all = append(all, flights(b.flights))
	}
	return all, nil
}

// keysAlone is a data set too large for memory.
func (b *bench) keysAlone(s shape) (dataset, error) {
	d := dataset{
		name: "keys alone", path: filepath.Join(b.dir, fmt.Sprintf("keys-%d.parquet", b.keys)),
		textKey: []string{"key"}, alone: true,
	}
	return d, b.once(d, func(path string) error {
		query := fmt.Sprintf("SELECT %s AS key FROM range(0, %d) r(i)", s.key, b.keys)
		_, err := b.sql([]string{copyTo(query, path)})
		return err
	})
}

// once makes a data set unless it is there, or nobody asks for it. What is made
// appears under its name when it is complete.
func (b *bench) once(d dataset, write func(path string) error) error {
	path := d.path
	if !slices.ContainsFunc(d.tasks(), func(t task) bool { return b.wants(d, t) || b.wantsSlow(d, t) }) {
		return nil
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fmt.Fprintf(b.log, "making %s\n", path)
	part := path + ".part"
	if err := os.RemoveAll(part); err != nil {
		return fmt.Errorf("remove unfinished data: %w", err)
	}
	if !strings.HasSuffix(path, ".parquet") {
		if err := os.Mkdir(part, 0o755); err != nil {
			return fmt.Errorf("make data folder: %w", err)
		}
	}
	if err := write(part); err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	return os.Rename(part, path)
}

func smallFiles(s shape, rows int64, dir string) []string {
	var list []string
	for from := int64(0); from < rows; from += smallRows {
		name := fmt.Sprintf("%s/part-%06d.parquet", dir, from/smallRows)
		list = append(list, copyTo(s.rowsOf(from, min(from+smallRows, rows)), name))
	}
	return list
}
