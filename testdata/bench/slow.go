package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/audit/scan"
	"github.com/wap-cli/wap/manifest"
)

// slowSource is a file in a store that takes a while for each request.
type slowSource struct {
	scan.Source
	latency time.Duration
}

func (s slowSource) ReadRange(ctx context.Context, p []byte, off int64) error {
	time.Sleep(s.latency)
	return s.Source.ReadRange(ctx, p, off)
}

// reading is what an audit in this process took.
type reading struct {
	Seconds         float64
	Bytes, Requests int64
	Footer          int64
}

// auditSlowly judges a file by a checks file, read with a latency, and prints a
// reading as JSON.
func auditSlowly(path, checks, latency string) error {
	wait, err := time.ParseDuration(latency)
	if err != nil {
		return fmt.Errorf("read latency: %w", err)
	}
	text, err := os.ReadFile(checks)
	if err != nil {
		return fmt.Errorf("read checks: %w", err)
	}
	config, err := audit.Parse(checks, text, audit.Vars{})
	if err != nil {
		return err
	}
	f, err := openFile(path)
	if err != nil {
		return err
	}
	defer f.file.Close()
	info, err := f.file.Stat()
	if err != nil {
		return fmt.Errorf("look at data: %w", err)
	}
	part := audit.Partition{
		Partition: manifest.Partition{Path: "orders", Table: "orders"},
		Files:     []audit.File{{Key: path, Source: slowSource{scan.ReaderAt(f.file, info.Size()), wait}}},
	}
	begin := time.Now()
	r, err := audit.Run(context.Background(), &audit.Rules{Default: config}, []audit.Partition{part}, audit.Options{Now: begin})
	if err != nil {
		return err
	}
	for _, a := range r.Assertions {
		if a.Outcome == audit.Error {
			return fmt.Errorf("assertion %s: %s", a.ID, a.Message)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(reading{time.Since(begin).Seconds(), r.BytesRead, r.Requests, f.scan.Footer().Bytes})
}

// chunkBytes is the size of the chunks of some columns.
func chunkBytes(path string, columns ...string) (n int64, err error) {
	r, err := file.OpenParquetFile(path, false)
	if err != nil {
		return 0, fmt.Errorf("open data: %w", err)
	}
	defer r.Close()
	wanted := map[int]bool{}
	for _, name := range columns {
		wanted[r.MetaData().Schema.ColumnIndexByName(name)] = true
	}
	for _, g := range r.MetaData().RowGroups {
		for i, c := range g.Columns {
			if wanted[i] {
				n += c.MetaData.TotalCompressedSize
			}
		}
	}
	return n, nil
}

// slowStore compares an audit whose requests take long with the same one of a
// local file, in turns, and prints a row for each task of a data set.
func (b *bench) slowStore(d dataset) error {
	w := tabwriter.NewWriter(b.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	header := fmt.Sprintf("from a store with %s a request\tlocal\tstore\t(store − 1 s) ÷ local\trequests\tbytes ÷ chunks of values\tbytes ÷ chunks of levels\t", b.latency)
	for _, t := range d.tasks() {
		if !b.wantsSlow(d, t) {
			continue
		}
		if header != "" {
			fmt.Fprintln(w, header)
			header = ""
		}
		if err := b.slowTask(w, d, t); err != nil {
			return err
		}
	}
	return w.Flush()
}

func (b *bench) wantsSlow(d dataset, t task) bool {
	return b.latency > 0 && d.wide != nil && b.only.MatchString("slow store, "+d.name+": "+t.name)
}

func (b *bench) slowTask(w *tabwriter.Writer, d dataset, t task) error {
	checks, err := t.write()
	if err != nil {
		return err
	}
	defer os.Remove(checks)
	var local, slow []float64
	var last reading
	for range b.repeat {
		for _, side := range []struct {
			latency time.Duration
			times   *[]float64
		}{{0, &local}, {b.latency, &slow}} {
			if last, err = b.slowly(d.path, checks, side.latency); err != nil {
				return err
			}
			*side.times = append(*side.times, last.Seconds)
		}
	}
	share := func(columns []string) string {
		chunks, err := chunkBytes(d.path, columns...)
		if err != nil || chunks == 0 {
			return "–"
		}
		return strconv.FormatFloat(float64(last.Bytes-last.Footer)/float64(chunks), 'f', 3, 64)
	}
	values, levels := share(t.values), "–"
	if len(t.values) == 0 {
		levels = share(t.levels)
	}
	_, err = fmt.Fprintf(w, "%s: %s\t%.2f s\t%.2f s\t%.2f\t%d\t%s\t%s\t\n", d.name, t.name,
		middle(local), middle(slow), (middle(slow)-1)/middle(local), last.Requests, values, levels)
	return err
}

func (b *bench) slowly(path, checks string, latency time.Duration) (r reading, err error) {
	out, err := b.selfOutput("slow", path, checks, latency.String())
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return r, fmt.Errorf("read what an audit took: %w", err)
	}
	return r, nil
}

func middle(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
