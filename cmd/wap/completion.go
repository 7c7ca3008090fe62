package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

func completionCommand() *command {
	return &command{
		name:      "completion",
		argsUsage: "SHELL",
		about:     "a script that completes commands and flags, for bash, zsh or fish",
		detail:    `For bash: eval "$(wap completion bash)". For zsh the same after compinit. For fish: wap completion fish | source.`,
		example:   `wap completion bash`,
		minArgs:   1,
		maxArgs:   1,
		run: func(_ context.Context, c *call) (result, error) {
			switch shell := c.line.args[0]; shell {
			case "bash":
				return completionOutput{bashCompletion()}, nil
			case "zsh":
				return completionOutput{"autoload -U +X bashcompinit && bashcompinit\n" + bashCompletion()}, nil
			case "fish":
				return completionOutput{fishCompletion()}, nil
			default:
				return nil, withHint(usage("no completion for the shell %q", shell), "bash, zsh or fish")
			}
		},
	}
}

type completionOutput struct {
	Script string `json:"script"`
}

func (o completionOutput) text(w io.Writer, _ style) error {
	_, err := io.WriteString(w, o.Script)
	return err
}

// bashCompletion offers commands first, then the flags of the one named and
// local paths. After -- everything is CMD's: paths alone.
func bashCompletion() string {
	var b strings.Builder
	b.WriteString("_wap() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} cmd= word flags=\n\tCOMPREPLY=()\n" +
		"\tfor word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n" +
		"\t\tif [[ $word == -- ]]; then COMPREPLY=($(compgen -f -- \"$cur\")); return; fi\n" +
		"\t\tif [[ $word != -* && -z $cmd ]]; then cmd=$word; fi\n\tdone\n\tcase $cmd in\n")
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
		fmt.Fprintf(&b, "\t%s) flags=%q ;;\n", c.name, strings.Join(longFlags(c.allFlags()), " "))
	}
	fmt.Fprintf(&b, "\t'') COMPREPLY=($(compgen -W %q -- \"$cur\")); return ;;\n\tesac\n", strings.Join(names, " "))
	b.WriteString("\tif [[ $cur == -* ]]; then COMPREPLY=($(compgen -W \"$flags\" -- \"$cur\")); else COMPREPLY=($(compgen -f -- \"$cur\")); fi\n}\n" +
		"complete -F _wap wap\n")
	return b.String()
}

func fishCompletion() string {
	var b strings.Builder
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	all := strings.Join(names, " ")
	for _, c := range commands() {
		fmt.Fprintf(&b, "complete -c wap -n 'not __fish_seen_subcommand_from %s' -f -a %s -d %s\n", all, c.name, fishQuote(c.about))
		for _, f := range c.allFlags() {
			doc := describeFlag(f)
			fmt.Fprintf(&b, "complete -c wap -n '__fish_seen_subcommand_from %s' -l %s -d %s\n", c.name, f.Names()[0], fishQuote(doc.usage))
		}
	}
	return b.String()
}

func longFlags(flags []cli.Flag) []string {
	list := []string{"--help"}
	for _, f := range flags {
		list = append(list, "--"+f.Names()[0])
	}
	return list
}

func fishQuote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
