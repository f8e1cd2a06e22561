package make

import (
	"encoding/json"
	"fmt"
)

// Made is what a maker gives: the bytes, and how they can be read.
type Made struct {
	Data []byte
	Text string
}

// To makes an artifact of a kind from a value. mark has it say that a model had a hand in it, where its kind has a place for that.
func To(kind string, v any, mark bool) (Made, error) {
	switch kind {
	case "json":
		if s, ok := v.(string); ok {
			var read any
			if json.Unmarshal([]byte(s), &read) == nil {
				v = read
			}
		}
		data, err := json.MarshalIndent(v, "", "  ")
		return Made{data, string(data)}, err
	case "csv":
		data, err := csvOf(v)
		return Made{data, string(data)}, err
	}
	d, err := Read(v)
	if err != nil {
		return Made{}, err
	}
	text := d.markdown(mark)
	switch kind {
	case "markdown":
		return Made{[]byte(text), text}, nil
	case "html":
		page := d.html(mark)
		return Made{[]byte(page), page}, nil
	case "pptx":
		data, err := d.pptx(mark)
		return Made{data, text}, err
	}
	return Made{}, fmt.Errorf("nobody knows how to make %.20q", kind)
}
