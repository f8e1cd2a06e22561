// Command show says whether a branch only ever stood at commits whose checks passed on exactly their files.
//
//	tandem audit export > journal.jsonl
//	go run ./test/bookmark/show REPOSITORY BRANCH < journal.jsonl
package main

import (
	"fmt"
	"os"

	"tandem/test/bookmark"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: show REPOSITORY BRANCH < entries of the journal, one on a line")
		os.Exit(2)
	}
	entries, err := bookmark.Read(os.Stdin)
	var v bookmark.Verdict
	if err == nil {
		v, err = bookmark.Judge(entries, bookmark.Repository{Path: os.Args[1], Env: os.Environ()}, os.Args[2])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%s stood at %d commits after its first, which came with %d jobs\n", os.Args[2], v.Places, v.Jobs)
	for _, w := range v.Wrong {
		fmt.Println("wrong:", w)
	}
	if len(v.Wrong) > 0 {
		os.Exit(1)
	}
}
