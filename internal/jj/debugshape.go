package jj

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tandem/internal/repo"
)

// shape is a value as jj's debug commands print it: a name, what opens and closes
// it, and its parts, each on a line of its own.
type shape struct {
	head, open, close string
	parts             []shape
	key               string // before the part, inside a record or a map
}

func leaf(text string) shape { return shape{head: text} }

func tuple(name string, parts ...shape) shape {
	return shape{head: name, open: "(", close: ")", parts: parts}
}

func record(name string, parts ...shape) shape {
	return shape{head: name + " ", open: "{", close: "}", parts: parts}
}

func list(parts ...shape) shape { return shape{open: "[", close: "]", parts: parts} }

func dict(parts ...shape) shape { return shape{open: "{", close: "}", parts: parts} }

// as names a part.
func (s shape) as(key string) shape {
	s.key = key + ": "
	return s
}

func (s shape) lines(indent string) string {
	if s.open == "" || len(s.parts) == 0 {
		return s.head + s.open + s.close
	}
	var b strings.Builder
	b.WriteString(s.head + s.open + "\n")
	for _, p := range s.parts {
		b.WriteString(indent + "    " + p.key + p.lines(indent+"    ") + ",\n")
	}
	return b.String() + indent + s.close
}

func hexShape[T ~string](name string, id T) shape {
	return tuple(name, leaf(fmt.Sprintf("%q", fmt.Sprintf("%x", string(id)))))
}

func timeShape(t repo.Timestamp) shape {
	return record("Timestamp", tuple("MillisSinceEpoch", leaf(fmt.Sprint(t.Millis))).as("timestamp"),
		leaf(fmt.Sprint(t.Offset)).as("tz_offset"))
}

// operationShape is an operation as its file has it.
func operationShape(o *repo.Operation) shape {
	var parents, attributes, made []shape
	for _, id := range o.Parents {
		parents = append(parents, hexShape("OperationId", id))
	}
	for _, k := range slices.Sorted(maps.Keys(o.Meta.Attributes)) {
		attributes = append(attributes, leaf(fmt.Sprintf("%q", o.Meta.Attributes[k])).as(fmt.Sprintf("%q", k)))
	}
	for _, id := range slices.Sorted(maps.Keys(o.Predecessors)) {
		var olds []shape
		for _, old := range o.Predecessors[id] {
			olds = append(olds, hexShape("CommitId", old))
		}
		made = append(made, list(olds...).as(hexShape("CommitId", id).lines("            ")))
	}
	workspace, predecessors := leaf("None"), leaf("None")
	if o.Meta.Workspace != "" {
		workspace = tuple("Some", tuple("WorkspaceNameBuf", leaf(fmt.Sprintf("%q", o.Meta.Workspace))))
	}
	if o.Predecessors != nil {
		predecessors = tuple("Some", dict(made...))
	}
	m := o.Meta
	return record("Operation",
		hexShape("ViewId", o.View).as("view_id"), list(parents...).as("parents"),
		record("OperationMetadata",
			record("TimestampRange", timeShape(m.Start).as("start"), timeShape(m.End).as("end")).as("time"),
			leaf(fmt.Sprintf("%q", m.Description)).as("description"), leaf(fmt.Sprintf("%q", m.Hostname)).as("hostname"),
			leaf(fmt.Sprintf("%q", m.Username)).as("username"),
			leaf(fmt.Sprint(m.Snapshot)).as("is_snapshot"), workspace.as("workspace_name"), dict(attributes...).as("attributes"),
		).as("metadata"),
		predecessors.as("commit_predecessors"),
	)
}
