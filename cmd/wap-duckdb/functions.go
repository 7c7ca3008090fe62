package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// tableFunctions are those that a query may call: they make rows of their
// arguments. Others write files, change settings or run other SQL, all of it in
// what parses as a SELECT, and a locked configuration does not stop them.
func tableFunctions() []string {
	return []string{"generate_series", "json_each", "json_tree", "range", "repeat", "repeat_row", "unnest"}
}

// actingFunctions are those of single values that do more than compute one: they
// write logs, read the environment, count on, or bind SQL that they are given.
func actingFunctions() []string {
	return []string{"currval", "getenv", "json_serialize_plan", "nextval", "write_log"}
}

// queryNodes are what a query may consist of. None of them changes anything.
func queryNodes() []string {
	return []string{"CTE_NODE", "RECURSIVE_CTE_NODE", "SELECT_NODE", "SET_OPERATION_NODE"}
}

// computing walks what json_serialize_sql made of a query, and refuses what might
// do anything but compute.
func computing(tree any, query string) error {
	switch node := tree.(type) {
	case []any:
		for _, child := range node {
			if err := computing(child, query); err != nil {
				return err
			}
		}
	case map[string]any:
		if err := computes(node, query); err != nil {
			return err
		}
		for _, key := range slices.Sorted(maps.Keys(node)) {
			if err := computing(node[key], query); err != nil {
				return err
			}
		}
	}
	return nil
}

// computes looks at one node of the tree, not at those below.
func computes(node map[string]any, query string) error {
	kind, _ := node["type"].(string)
	if strings.HasSuffix(kind, "_NODE") && !slices.Contains(queryNodes(), kind) {
		return refusal("the query holds a %s, it must be one SELECT", kind)
	}
	call, name := node, named(node)
	var err *queryError
	switch {
	case kind == "TABLE_FUNCTION":
		call, _ = node["function"].(map[string]any)
		if name = named(call); !slices.Contains(tableFunctions(), name) {
			err = refusal("the table function %q may not be called, only %s may", name, strings.Join(tableFunctions(), ", "))
		}
	case slices.Contains(actingFunctions(), name):
		err = refusal("the function %q may not be called: it does more than compute", name)
	}
	if err == nil {
		return nil
	}
	at, _ := call["query_location"].(json.Number)
	err.place = placeIn(query, at.String(), 0)
	return err
}

// named is the function that a node calls, or empty.
func named(node map[string]any) string {
	name, _ := node["function_name"].(string)
	return strings.ToLower(name)
}
