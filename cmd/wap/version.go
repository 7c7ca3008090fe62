package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

func versionCommand() *command {
	return &command{
		name:    "version",
		about:   "the version of this program",
		detail:  "The version is also written into the record of every attempt.",
		example: `wap version`,
		run: func(context.Context, *call) (result, error) {
			return versionOutput{programVersion(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}, nil
		},
	}
}

// programVersion is what the linker was told, else the module's version.
func programVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

type versionOutput struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (o versionOutput) text(w io.Writer, _ style) error {
	_, err := fmt.Fprintf(w, "wap %s (%s, %s)\n", o.Version, o.Go, o.Platform)
	return err
}
