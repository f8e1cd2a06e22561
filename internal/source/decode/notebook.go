package decode

import (
	"encoding/json"
	"fmt"
	"strings"
)

// joinedText is a text that a notebook writes as one string or as a list of lines.
type joinedText string

func (j *joinedText) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*j = joinedText(one)
		return nil
	}
	var many []string
	if err := json.Unmarshal(data, &many); err != nil {
		return nil // a picture's data, for example: no text
	}
	*j = joinedText(strings.Join(many, ""))
	return nil
}

type notebook struct {
	Cells []struct {
		Kind    string     `json:"cell_type"`
		Source  joinedText `json:"source"`
		Outputs []struct {
			Text joinedText            `json:"text"`
			Data map[string]joinedText `json:"data"`
			Name string                `json:"ename"`
			Says string                `json:"evalue"`
		} `json:"outputs"`
	} `json:"cells"`
}

// readNotebook makes a part of each cell: its source, and what it printed.
func readNotebook(w *writer, data []byte) error {
	var n notebook
	if err := w.depthOf(data); err != nil {
		return err
	}
	if err := json.Unmarshal(data, &n); err != nil {
		return refused("it is no notebook: %v", err)
	}
	for i, cell := range n.Cells {
		text := string(cell.Source)
		if level, title := headingOf(strings.SplitN(text, "\n", 2)[0]); cell.Kind == "markdown" && level == 1 && w.doc.Title == "" {
			w.doc.Title = clip(title)
		}
		for _, out := range cell.Outputs {
			said := string(out.Text) + string(out.Data["text/plain"])
			if out.Name != "" {
				said += out.Name + ": " + out.Says
			}
			for kind := range out.Data {
				if strings.HasPrefix(kind, "image/") {
					w.left("pictures that cells made")
				}
			}
			if strings.TrimSpace(said) != "" {
				text += "\n\nprinted:\n" + said
			}
		}
		if err := w.part(fmt.Sprintf("cell %d", i+1), text); err != nil {
			return err
		}
	}
	return nil
}

// depthOf refuses values that are nested too deep, before they are read into anything.
func (w *writer) depthOf(data []byte) error {
	depth, text := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{' || c == '[':
			if depth++; depth > w.limits.Depth {
				return w.deep(depth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}
