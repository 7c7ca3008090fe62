package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/wap"
)

// configName is the file that is looked for in the working directory and its
// parents; the nearest counts, alone.
const configName = "wap.yaml"

// configFile is a wap.yaml. Texts are as written: ${env:NAME} is substituted
// when a value is asked for, so that a variable of the scheduler need not be
// set for a command that has no use for it.
type configFile struct {
	name    string // as it is printed
	dir     string
	texts   map[string]fileText // warehouse, run, checks, mode, tasks
	inputs  []fileText
	plugins []filePlugin
	tables  []fileTable
	s3      []fileEntry
}

// fileText is a text with its place in the file.
type fileText struct {
	text         string
	line, column int
}

type fileEntry struct {
	key   string
	value fileText
}

type filePlugin struct {
	name    string
	command []fileText
}

// fileTable maps the tables that match a glob to a checks file.
type fileTable struct {
	glob   string
	checks fileText
}

func configKeys() []string {
	return []string{"warehouse", "run", "checks", "mode", "tasks", "inputs", "plugins", "tables", "s3"}
}

func s3Keys() []string {
	return []string{"path_style", "requester_pays", "sse", "kms_key", "bucket_owner", "ca_bundle"}
}

// findConfigFile reads the nearest wap.yaml, or returns nil when there is none.
func findConfigFile() (*configFile, error) {
	start, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", configName, err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		full := filepath.Join(dir, configName)
		data, err := os.ReadFile(full)
		if err == nil {
			return parseConfigFile(relative(start, full), dir, data)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, usage("read %s: %s", full, err)
		}
		if dir == filepath.Dir(dir) {
			return nil, nil
		}
	}
}

// configReader collects the mistakes of one file.
type configReader struct {
	file  *configFile
	wrong mistakes
}

func parseConfigFile(name, dir string, data []byte) (*configFile, error) {
	r := &configReader{file: &configFile{name: name, dir: dir, texts: map[string]fileText{}}}
	var doc, more yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF): // empty, or comments alone
		return r.file, nil
	case err != nil:
		return nil, usage("%s", yamlPlace(name, err))
	}
	if err := dec.Decode(&more); err == nil {
		return nil, usage("%s:%d:%d: a second document", name, more.Line, more.Column)
	} else if !errors.Is(err, io.EOF) {
		return nil, usage("%s", yamlPlace(name, err))
	}
	r.mapping(doc.Content[0], configKeys(), r.top)
	if len(r.wrong) > 0 {
		return nil, r.wrong
	}
	return r.file, nil
}

var yamlErrorLine = regexp.MustCompile(`\Ayaml: line (\d+): (.*)\z`)

// yamlPlace gives a parser's error the form of our own.
func yamlPlace(name string, err error) string {
	if m := yamlErrorLine.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Sprintf("%s:%s:1: not YAML: %s", name, m[1], m[2])
	}
	return fmt.Sprintf("%s: not YAML: %s", name, strings.TrimPrefix(err.Error(), "yaml: "))
}

func (r *configReader) fail(n *yaml.Node, format string, args ...any) *wap.Error {
	e := usage("%s:%d:%d: %s", r.file.name, n.Line, n.Column, fmt.Sprintf(format, args...))
	r.wrong = append(r.wrong, e)
	return e
}

// mapping calls visit for each entry of n. With known keys, any other is a
// mistake; without, any key will do.
func (r *configReader) mapping(n *yaml.Node, known []string, visit func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "expected a mapping of keys to values")
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		first, twice := seen[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || value.Kind == yaml.AliasNode || key.Tag == "!!merge":
			r.fail(key, "aliases and merge keys are not supported")
		case twice:
			r.fail(key, "%q stands twice, first in line %d", key.Value, first)
		case known != nil && !slices.Contains(known, key.Value):
			e := r.fail(key, "unknown key %q", key.Value)
			if near, ok := audit.Nearest(key.Value, known); ok {
				e.Hint = fmt.Sprintf("did you mean %q?", near)
			} else {
				e.Hint = "known keys: " + strings.Join(known, ", ")
			}
		default:
			visit(key, value)
		}
		seen[key.Value] = key.Line
	}
}

func (r *configReader) top(key, value *yaml.Node) {
	f := r.file
	switch key.Value {
	case "inputs":
		f.inputs = r.list(value)
	case "plugins":
		r.mapping(value, nil, func(name, command *yaml.Node) {
			f.plugins = append(f.plugins, filePlugin{name.Value, r.list(command)})
		})
	case "tables":
		r.mapping(value, nil, r.table)
	case "s3":
		r.mapping(value, s3Keys(), func(key, value *yaml.Node) {
			if t, ok := r.text(value); ok {
				f.s3 = append(f.s3, fileEntry{key.Value, t})
			}
		})
	case "tasks":
		if value.Kind == yaml.SequenceNode {
			var names []string
			for _, t := range r.list(value) {
				names = append(names, t.text)
			}
			f.texts["tasks"] = fileText{strings.Join(names, ","), value.Line, value.Column}
			return
		}
		fallthrough
	default:
		if t, ok := r.text(value); ok {
			f.texts[key.Value] = t
		}
	}
}

func (r *configReader) table(glob, value *yaml.Node) {
	if _, err := path.Match(glob.Value, ""); err != nil {
		r.fail(glob, "%q is no glob of tables", glob.Value)
		return
	}
	r.mapping(value, []string{"checks"}, func(_, value *yaml.Node) {
		if t, ok := r.text(value); ok {
			r.file.tables = append(r.file.tables, fileTable{glob.Value, t})
		}
	})
}

func (r *configReader) text(n *yaml.Node) (fileText, bool) {
	if n.Kind != yaml.ScalarNode || n.Value == "" || n.Tag == "!!null" {
		r.fail(n, "expected a value")
		return fileText{}, false
	}
	return fileText{n.Value, n.Line, n.Column}, true
}

func (r *configReader) list(n *yaml.Node) []fileText {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "expected a list")
		return nil
	}
	var list []fileText
	for _, item := range n.Content {
		if t, ok := r.text(item); ok {
			list = append(list, t)
		}
	}
	return list
}

// at is where a text stands, for people.
func (f *configFile) at(t fileText) string {
	return fmt.Sprintf("%s:%d:%d", f.name, t.line, t.column)
}

var variable = regexp.MustCompile(`\$\{[^}]*\}?`)

// expand substitutes ${env:NAME}. A variable that is not set is a mistake: a
// run's name with a hole in it would be another run.
func (f *configFile) expand(t fileText, getenv func(string) (string, bool)) (string, error) {
	var wrong error
	out := variable.ReplaceAllStringFunc(t.text, func(v string) string {
		name, ok := strings.CutPrefix(v, "${env:")
		name, closed := strings.CutSuffix(name, "}")
		if !ok || !closed || name == "" {
			wrong = fmt.Errorf("%s: %s is no variable: ${env:NAME} is all there is", f.at(t), v)
			return v
		}
		value, set := getenv(name)
		if !set || value == "" {
			wrong = fmt.Errorf("%s: environment variable %s is not set", f.at(t), name)
		}
		return value
	})
	return out, wrong
}

// resolve takes local paths of the file from its own folder.
func (f *configFile) resolve(key, value string) string {
	local := key == "checks" && value != builtinChecks || key == "ca_bundle" ||
		key == "warehouse" && !strings.Contains(value, ":/")
	if local && !filepath.IsAbs(value) {
		return filepath.Join(f.dir, value)
	}
	return value
}
