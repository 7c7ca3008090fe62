package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/duckdb/duckdb-go/v2"
)

// queryError is what DuckDB holds against a query, or its data.
type queryError struct {
	kind    string // DuckDB's, such as Parser or Out of Memory
	message string
	place   string // in the query; may be empty
	told    bool   // the message holds no value of the data
}

func (e *queryError) Error() string {
	if e.place != "" {
		return e.place + ": " + e.message
	}
	return e.message
}

// refusal is an error about the query itself.
func refusal(format string, args ...any) *queryError {
	return &queryError{kind: "Query", message: fmt.Sprintf(format, args...), told: true}
}

// told marks an error of DuckDB as one that holds no value of the data.
func told(err error) error {
	var e *queryError
	if errors.As(err, &e) {
		e.told = true
	}
	return err
}

// aboutText marks an error met before the query ran. Other kinds may come from
// what was computed beforehand.
func aboutText(err error) error {
	var e *queryError
	if errors.As(err, &e) && slices.Contains([]string{"Parser", "Syntax", "Binder", "Catalog", "Permission"}, e.kind) {
		e.told = true
	}
	return err
}

// failed is the verdict for an error. What lies neither in the query nor in the
// data may be gone on a retry. A message is stored, and DuckDB's may hold values
// of the data: such a one is the detail.
func failed(err error, doc *document) *verdict {
	err = placed(err, "", 0)
	v := &verdict{Outcome: "error", Cause: causeOutside, Message: err.Error()}
	var e *queryError
	var other *duckdb.Error
	switch {
	case errors.As(err, &e):
		if !e.outside() && !e.broken() {
			v.Cause = causeData
		}
		if !e.told && !e.outside() {
			v.Message, v.Detail = e.withoutValues(doc), e.Error()
		}
	case errors.As(err, &other):
		v.Message, v.Detail = "DuckDB stopped", err.Error()
	}
	return v
}

// outside tells kinds that speak of memory, files and the like alone.
func (e *queryError) outside() bool {
	return slices.Contains([]string{"Out of Memory", "IO", "INTERRUPT", "Connection", "HTTP", "Network"}, e.kind)
}

// broken tells kinds that are DuckDB's own mistakes.
func (e *queryError) broken() bool { return e.kind == "INTERNAL" || e.kind == "FATAL" }

// withoutValues tells the kind, the place, and the column where DuckDB names one
// that the files or the partition have.
func (e *queryError) withoutValues(doc *document) string {
	var columns []string
	for _, c := range doc.Columns {
		columns = append(columns, c.Name)
	}
	for _, k := range doc.Partition.Keys {
		columns = append(columns, k.Name)
	}
	short := queryError{message: e.kind + " Error", place: e.place}
	for _, c := range columns {
		if strings.HasSuffix(e.message, " from source column "+c) {
			short.message += ", column " + c
			break
		}
	}
	return short.Error()
}

// placed reads DuckDB's error. Its position counts bytes of the text that was
// run, in which the query begins at an offset.
func placed(err error, query string, offset int) error {
	var done *queryError
	if errors.As(err, &done) {
		return err
	}
	_, object, ok := strings.Cut(err.Error(), "{")
	var parsed struct {
		Kind     string `json:"exception_type"`
		Message  string `json:"exception_message"`
		Position string `json:"position"`
	}
	if !ok || json.NewDecoder(strings.NewReader("{"+object)).Decode(&parsed) != nil || parsed.Kind == "" {
		return err
	}
	message := strings.Join(strings.FieldsFunc(parsed.Message, func(c rune) bool { return c == '\n' }), "; ")
	return &queryError{kind: parsed.Kind, message: message, place: placeIn(query, parsed.Position, offset)}
}

// placeIn turns a position into a line and a column, both from 1.
func placeIn(query, position string, offset int) string {
	at, err := strconv.Atoi(position)
	if err != nil || at < offset || at-offset > len(query) || query == "" {
		return ""
	}
	before := query[:at-offset]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, column %d", line, column)
}
