package main

import (
	"context"
	"fmt"
	"io"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap"
)

func lsCommand() *command {
	return &command{
		name:      "ls",
		argsUsage: "PATH[@REF]",
		about:     "one level of the tree, with totals",
		detail:    "A reference alone, as @41 or @2025-03-05T00:00:00Z, lists the root of that state.",
		example:   `wap ls orders --warehouse ./lake`,
		maxArgs:   1,
		run: func(ctx context.Context, c *call) (result, error) {
			w, err := c.open(ctx)
			if err != nil {
				return nil, err
			}
			r, err := w.Ls(ctx, c.line.arg(0))
			return lsOutput{r}, err
		},
	}
}

type lsOutput struct{ *wap.LsResult }

func (o lsOutput) text(w io.Writer, _ style) error {
	if o.LsResult == nil || o.Kind == "" {
		return nil
	}
	t := newTable(w)
	for _, e := range o.Entries {
		name := e.Name
		if e.Kind == string(manifest.NodeTree) {
			name += "/"
		}
		t.row(append([]string{name}, totalsText(e.Totals)...)...)
	}
	path := o.Path
	if path == "" {
		path = "total"
	}
	t.row(append([]string{path}, append(totalsText(o.Totals), fmt.Sprintf("sequence %d", o.Sequence))...)...)
	return t.flush()
}

func totalsText(t manifest.Totals) []string {
	return []string{count(t.Files, "file"), count(t.Rows, "row"), size(t.Bytes)}
}
