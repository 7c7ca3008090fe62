package main

import (
	"context"
	"fmt"
	"io"

	"github.com/wap-cli/wap/wap"
)

func fetchCommand() *command {
	return &command{
		name:      "fetch",
		argsUsage: "PATH[@REF] DIR",
		about:     "download the live files below a path",
		detail:    "Files land in DIR below their partition's folders, each checked against its recorded size and checksum.",
		example:   `wap fetch orders ./copy --warehouse ./lake`,
		minArgs:   2,
		maxArgs:   2,
		run: func(ctx context.Context, c *call) (result, error) {
			w, err := c.open(ctx)
			if err != nil {
				return nil, err
			}
			r, err := w.Fetch(ctx, c.line.args[0], c.line.args[1])
			return fetchOutput{r}, err
		},
	}
}

type fetchOutput struct{ *wap.FetchResult }

func (o fetchOutput) text(w io.Writer, _ style) error {
	if o.FetchResult == nil || o.Dir == "" {
		return nil
	}
	_, err := fmt.Fprintf(w, "fetched  %s, %s, of sequence %d into %s\n", count(o.Files, "file"), size(o.Bytes), o.Sequence, o.Dir)
	return err
}
