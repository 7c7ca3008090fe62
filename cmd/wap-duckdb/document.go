package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// document is what wap gives an engine. Fields that have no use here are left
// out.
type document struct {
	Schema     int               `json:"schema"`
	Now        time.Time         `json:"now"`
	Query      string            `json:"query"`
	Partition  partition         `json:"partition"`
	Columns    []column          `json:"columns"`
	Files      []dataFile        `json:"files"`
	Baseline   []dataFile        `json:"baseline"`
	Parameters map[string]string `json:"parameters"`
	Limits     limits            `json:"limits"`
}

type partition struct {
	Keys []key `json:"keys"`
}

type key struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Type  string `json:"type"`
}

type column struct {
	Name string `json:"name"`
}

type dataFile struct {
	URL  string `json:"url"`
	Path string `json:"path"`
}

type limits struct {
	Samples     int64 `json:"samples"`
	TimeoutMS   int64 `json:"timeout_ms"`
	MemoryBytes int64 `json:"memory_bytes"`
}

// verdict is what wap reads from stdout.
type verdict struct {
	Outcome    string   `json:"outcome"`
	Cause      string   `json:"cause,omitempty"`
	Violations int64    `json:"violations"`
	Samples    []sample `json:"samples,omitempty"`
	Message    string   `json:"message,omitempty"`
	Detail     string   `json:"detail,omitempty"` // of an error; may hold values of the data
}

// The causes of an error: data stays as it is on a retry.
const (
	causeData    = "data"
	causeOutside = "outside"
)

type sample struct {
	Row    int64  `json:"row"` // of the result, from 0
	Values []cell `json:"values"`
}

type cell struct {
	Column string `json:"column"`
	Text   string `json:"text"`
	Null   bool   `json:"null"`
}

func (d *document) timeout() time.Duration {
	return time.Duration(d.Limits.TimeoutMS) * time.Millisecond
}

func readDocument(in io.Reader) (*document, error) {
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("read stdin: %w", err)
	}
	var doc document
	switch err := json.Unmarshal(data, &doc); {
	case err != nil:
		return nil, fmt.Errorf("read document: %w; this program is called by wap, for `sql` in a checks file", err)
	case doc.Schema != 1:
		return nil, fmt.Errorf("read document: schema %d is not known, this program reads 1", doc.Schema)
	case doc.Query == "":
		return nil, errors.New("read document: no query; this program is an engine for `sql`, not for `exec`")
	case len(doc.Files) == 0:
		return nil, errors.New("read document: no file to look at")
	}
	for _, list := range [][]dataFile{doc.Files, doc.Baseline} {
		for _, f := range list {
			if f.Path == "" {
				return nil, fmt.Errorf("read document: %s is not downloaded: this engine needs `local: true`", f.URL)
			}
		}
	}
	return &doc, nil
}
