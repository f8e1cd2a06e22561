package jj

import (
	"embed"
	"path"
	"strings"
)

// topicFiles are the pages of `jj help -k`, one for each word.
//
//go:embed help/topics/*.md
var topicFiles embed.FS

// topics lists the words that have a page.
func topics() []string {
	entries, err := topicFiles.ReadDir("help/topics")
	if err != nil {
		panic(err) // they are part of the program
	}
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".md"))
	}
	return out
}

func topic(name string) string {
	data, err := topicFiles.ReadFile(path.Join("help/topics", name+".md"))
	if err != nil {
		panic(err)
	}
	return string(data)
}
