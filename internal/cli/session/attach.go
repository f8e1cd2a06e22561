package session

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"tandem/internal/fault"
	"tandem/internal/foreign"
	"tandem/internal/provider"
	room "tandem/internal/session"
)

// maxAttached is the most that one file may bring.
const maxAttached = 10 << 20

// attach puts files beside a prompt: images as images, everything else as text that is marked as a file.
func attach(in *room.PromptIn, paths []string) error {
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			return fault.New(fault.Invalid, "session.prompt", "%s cannot be read", p)
		}
		if len(b) > maxAttached {
			return fault.New(fault.Invalid, "session.prompt", "%s has %d bytes; %d can be attached", p, len(b), maxAttached)
		}
		mime := http.DetectContentType(b)
		switch {
		case strings.HasPrefix(mime, "image/"):
			in.Images = append(in.Images, provider.Image{Mime: mime, Data: b})
		case utf8.Valid(b):
			in.Text += "\n" + foreign.Mark("file", filepath.Base(p), string(b))
		default:
			return fault.New(fault.Invalid, "session.prompt", "%s is neither an image nor text, but %s", p, mime)
		}
	}
	return nil
}
