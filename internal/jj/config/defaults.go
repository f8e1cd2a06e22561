package config

import (
	_ "embed"
	"sync"
)

//go:embed defaults.toml
var defaultsText string

//go:embed colours.toml
var coloursText string

// defaults parses the built-in settings once.
var defaults = sync.OnceValues(func() (*Table, error) { return ParseTOML(defaultsText) })

// Defaults is a stack with the built-in settings; the palette is left out
// because most output is plain.
func Defaults() (*Stack, error) {
	t, err := defaults()
	if err != nil {
		return nil, err
	}
	return &Stack{Layers: []Layer{{Source: Default, Root: t}}}, nil
}

// Colours is the built-in palette as a layer of its own.
func Colours() (Layer, error) {
	t, err := ParseTOML(coloursText)
	return Layer{Source: Default, Root: t}, err
}
