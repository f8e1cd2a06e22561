package op

import "context"

type progressKey struct{}

// WithProgress lets whoever waits for a call hear how it goes. A door sets it
// whose client asked for that.
func WithProgress(ctx context.Context, hear func(message string)) context.Context {
	return context.WithValue(ctx, progressKey{}, hear)
}

// Progress tells whoever waits for this call how it goes. Without anybody who
// asked, it does nothing.
func Progress(ctx context.Context, message string) {
	if hear, _ := ctx.Value(progressKey{}).(func(string)); hear != nil {
		hear(message)
	}
}
