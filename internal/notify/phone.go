package notify

import (
	"cmp"
	"context"
	"mime"
	"strings"
)

// Topic is the topic of ntfy that counts now, "" for no phone.
func (n *Notifier) Topic() string { return *n.topic.Load() }

// Phone names another topic, which counts from the next notice on; "" is no phone.
func (n *Notifier) Phone(topic string) { n.topic.Store(&topic) }

// First sends a phone its first notice, at once, so that a person sees whether it arrives. An empty topic is the one that counts.
func (n *Notifier) First(ctx context.Context, topic, panel string) error {
	h := map[string]string{"Title": mime.QEncoding.Encode("utf-8", "tandem: this phone is told")}
	body := "You are told here when something waits for you."
	if panel != "" {
		h["Click"] = strings.TrimSuffix(panel, "/") + "/panel/"
	} else {
		body += "\n\n" + noLink
	}
	return post(ctx, n.at(cmp.Or(topic, n.Topic())), []byte(body), h)
}

func (n *Notifier) at(topic string) string { return strings.TrimSuffix(n.Server, "/") + "/" + topic }
