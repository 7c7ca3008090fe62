package wap

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// controlDir holds a task's control totals: sealed, never published.
const controlDir = "_control"

// Bounds of one control file.
const (
	maxControl      = 1 << 20 // bytes
	maxControlDepth = 32
	maxControlNames = 8 << 20 // bytes of the dotted names of its values
)

// controlsAt reads a control file that lies anywhere.
func (c Config) controlsAt(ctx context.Context, url string) ([]manifest.Control, error) {
	w := &Warehouse{cfg: c}
	objects, _, err := w.listURL(ctx, url)
	if err != nil {
		return nil, forGood(err)
	}
	if len(objects) != 1 || objects[0].URL != strings.TrimSuffix(url, "/") {
		return nil, absent("no control file lies at %s", url)
	}
	o := objects[0]
	st, _, err := w.inputStore(ctx, manifest.Input{InputSource: manifest.InputSource{Source: url}, Objects: objects})
	if err != nil {
		return nil, forGood(err)
	}
	if o.Size > maxControl {
		return nil, absent("control file %s is larger than %d bytes", url, maxControl)
	}
	body := make([]byte, o.Size)
	src := &storeSource{st, o.Key, o.Size, store.Version{ETag: o.ETag, ID: o.VersionID}}
	if err := src.ReadRange(ctx, body, 0); err != nil {
		return nil, outside("read control file %s", url).because(err)
	}
	out, err := parseControls(body, url, "")
	if err != nil {
		return nil, absent("%w", err)
	}
	return out, nil
}

// readControls flattens one JSON document into named values. Numbers keep the
// digits they were written with.
func readControls(file, name, task string) ([]manifest.Control, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, outside("read control file %s", name).because(err)
	}
	defer f.Close()
	body, err := io.ReadAll(io.LimitReader(f, maxControl+1))
	if err != nil {
		return nil, outside("read control file %s", name).because(err)
	}
	if len(body) > maxControl {
		return nil, refused("control file %s is larger than %d bytes", name, maxControl)
	}
	return parseControls(body, name, task)
}

// parseControls flattens the text of a control file.
func parseControls(body []byte, name, task string) ([]manifest.Control, error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, refused("control file %s is not JSON", name).because(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, refused("control file %s holds more than one JSON value", name)
	}
	if _, ok := v.(map[string]any); !ok {
		return nil, refused("control file %s holds no JSON object", name).hint(`write {"row_count": 1200}`)
	}
	var out []manifest.Control
	all := flattening{leaf: func(key, value string) {
		out = append(out, manifest.Control{Task: task, File: name, Name: key, Value: value})
	}}
	if err := all.add(v, "", 0); err != nil {
		return nil, refused("control file %s", name).because(err)
	}
	slices.SortFunc(out, compareControls)
	if len(out) > 0 && out[0].Name == "" {
		return nil, refused("control file %s holds a value without a name", name)
	}
	return out, nil
}

func compareControls(a, b manifest.Control) int {
	return strings.Compare(a.Task+"\x00"+a.File+"\x00"+a.Name, b.Task+"\x00"+b.File+"\x00"+b.Name)
}

// flattening collects the leaves of a JSON value under their dotted paths. Names
// grow with depth, and with each leaf of a long one: both are bounded.
type flattening struct {
	names int // bytes of all names so far
	leaf  func(key, value string)
}

func (f *flattening) add(v any, at string, depth int) error {
	if f.names += len(at); f.names > maxControlNames {
		return fmt.Errorf("at %s: the names of all values together are longer than %d bytes", shortened(at), maxControlNames)
	}
	if depth > maxControlDepth {
		return fmt.Errorf("at %s: nested deeper than %d levels", shortened(at), maxControlDepth)
	}
	join := func(k string) string { return strings.TrimPrefix(at+"."+k, ".") }
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if err := f.add(v[k], join(k), depth+1); err != nil {
				return err
			}
		}
	case []any:
		for i, x := range v {
			if err := f.add(x, join(strconv.Itoa(i)), depth+1); err != nil {
				return err
			}
		}
	case nil:
		f.leaf(at, "null")
	case string:
		// What would read as null, or as quoted, is quoted.
		if v == "null" || strings.HasPrefix(v, `"`) {
			v = strconv.Quote(v)
		}
		f.leaf(at, v)
	default:
		f.leaf(at, fmt.Sprint(v))
	}
	return nil
}

// shortened quotes a name for a message.
func shortened(name string) string {
	const most = 100
	if len(name) > most {
		return fmt.Sprintf("%q…", name[:most])
	}
	return fmt.Sprintf("%q", name)
}
