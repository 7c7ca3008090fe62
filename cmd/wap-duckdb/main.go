// Command wap-duckdb runs the queries of `sql` assertions in DuckDB. It reads
// wap's document on stdin and prints one verdict: rows that the query returns
// are violations. The query sees two views, staged (what is judged) and live
// (what readers see of the partition now), and nothing else: no other file, no
// network, no setting.
//
// It is a module of its own, so that wap needs no C compiler.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

func main() { os.Exit(run(context.Background(), os.Stdin, os.Stdout, os.Stderr)) }

// run answers 0 whenever there is a verdict, and 2 when what it was asked is no
// document of wap.
func run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) int {
	doc, err := readDocument(stdin)
	if err != nil {
		fmt.Fprintln(stderr, "wap-duckdb:", err)
		return 2
	}
	if err := json.NewEncoder(stdout).Encode(judge(ctx, doc)); err != nil {
		fmt.Fprintln(stderr, "wap-duckdb: print verdict:", err)
		return 1
	}
	return 0
}

// judge runs the query within the document's limits.
func judge(ctx context.Context, doc *document) *verdict {
	if doc.Limits.TimeoutMS > 0 {
		limited, cancel := context.WithTimeout(ctx, doc.timeout())
		defer cancel()
		ctx = limited
	}
	v, err := evaluate(ctx, doc)
	switch {
	case err == nil:
		return v
	case ctx.Err() != nil:
		return &verdict{Outcome: "error", Cause: causeOutside, Message: fmt.Sprintf("no result within %s", doc.timeout())}
	}
	return failed(err, doc)
}

func evaluate(ctx context.Context, doc *document) (v *verdict, err error) {
	e, err := open(ctx, doc)
	if err != nil {
		return nil, err
	}
	defer func() {
		if errClose := e.close(); err == nil {
			err = errClose
		}
	}()
	return e.violations(ctx, doc.Query, doc.Limits.Samples)
}
