package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// queryError is what DuckDB holds against a query, or its data.
type queryError struct {
	kind    string // DuckDB's, such as Parser or Out of Memory
	message string
	place   string // in the query; may be empty
}

func (e *queryError) Error() string {
	if e.place != "" {
		return e.place + ": " + e.message
	}
	return e.message
}

// failed is the verdict for an error. What lies neither in the query nor in the
// data may be gone on a retry.
func failed(err error) *verdict {
	err = placed(err, "", 0)
	v := &verdict{Outcome: "error", Cause: causeOutside, Message: err.Error()}
	var e *queryError
	outside := []string{"Out of Memory", "IO", "Interrupt", "Internal", "Fatal", "Connection", "HTTP", "Network"}
	if errors.As(err, &e) && !slices.Contains(outside, e.kind) {
		v.Cause = causeData
	}
	return v
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
