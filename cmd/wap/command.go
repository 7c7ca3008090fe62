package main

import (
	"context"
	"io"

	"github.com/urfave/cli/v2"
)

// command is one command with everything its help says.
type command struct {
	name      string // may be two words
	argsUsage string // positionals as words, e.g. "PATH[@REF] DIR"
	about     string // one line
	detail    string // paragraphs
	example   string // works when pasted; see examplesNote
	minArgs   int
	maxArgs   int // -1: any number
	// takesCommand: what follows -- is a command to run, and has to be there.
	takesCommand bool
	flags        []cli.Flag
	run          func(ctx context.Context, c *call) (result, error)
}

// result is what a command came to. It is printed as text, or with --json
// marshalled as it is; on failure it holds what is known.
type result interface {
	// text writes the result for people. Of a failed call it writes what is known,
	// which may be nothing.
	text(w io.Writer, s style) error
}

// allFlags are the command's own flags and those of every command.
func (c *command) allFlags() []cli.Flag {
	return append(append([]cli.Flag(nil), c.flags...), globalFlags()...)
}

// everyCommand is the heading of the flags that all commands have.
const everyCommand = "Flags of every command"

// globalFlags makes the flags of every command. urfave/cli keeps values in
// them, so each command gets its own.
func globalFlags() []cli.Flag {
	text := func(name, usage string, short ...string) cli.Flag {
		return &cli.StringFlag{Name: name, Aliases: short, Usage: usage}
	}
	yes := func(name, usage string) cli.Flag { return &cli.BoolFlag{Name: name, Usage: usage} }
	return []cli.Flag{
		text("warehouse", "`URL`: s3://bucket/prefix, file:///dir or a bare path [$WAP_WAREHOUSE]", "w"),
		text("run", "`NAME`: the logical run, the same over every retry [$WAP_RUN]", "r"),
		yes("json", "one JSON object on stdout"),
		yes("quiet", "nothing on stderr but errors and warnings"),
		yes("no-progress", "no progress on stderr"),
		text("color", "`WHEN`: auto (default), always or never [$NO_COLOR]"),
		text("endpoint-url", "`URL`: an S3 store that is not AWS; means path style [$AWS_ENDPOINT_URL_S3, $AWS_ENDPOINT_URL]"),
		text("region", "`NAME`: the bucket's region [$AWS_REGION, $AWS_DEFAULT_REGION]"),
		text("profile", "`NAME`: a profile of the shared AWS configuration [$AWS_PROFILE]"),
		text("commit-timeout", "`DURATION`: how long a commit is tried (default 5m)"),
		text("memory", "`SIZE`: what an audit may use (default 512MiB)"),
	}
}

// commands are all commands in the order of the help.
func commands() []*command {
	return []*command{
		initCommand(),
		runCommand(),
		beginCommand(),
		stageCommand(),
		sealCommand(),
		auditCommand(),
		publishCommand(),
		statusCommand(),
		resolveCommand(),
		abortCommand(),
		redoCommand(),
		inputsCommand(),
		checkCommand(),
		checksCommand(),
		filesCommand(),
		fetchCommand(),
		lsCommand(),
		logCommand(),
		showCommand(),
		doctorCommand(),
		configCommand(),
		versionCommand(),
		completionCommand(),
		helpCommand(),
	}
}
