package make

import (
	"fmt"
	"math"
	"strings"

	"tandem/internal/fault"
)

// palette tells series apart, also for people who see fewer colours.
var palette = []string{"4477AA", "EE6677", "228833", "CCBB44", "66CCEE", "AA3377", "BBBBBB", "EE8866"}

// The size of a drawn chart, and of what stands around it.
const (
	wide, high              = 640.0, 320.0
	left, right, top, below = 56.0, 16.0, 12.0, 56.0
)

// svg draws a chart. Its numbers are also said in words, for who does not see it.
func (c *Chart) svg(title string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" role="img" aria-label="%s">`, wide, high,
		esc(title+": "+c.words()))
	if c.Kind == "pie" {
		c.pie(&b)
	} else {
		c.axes(&b)
	}
	b.WriteString("</svg>")
	return b.String()
}

func (c *Chart) words() string {
	var parts []string
	for _, s := range c.Series {
		for i, v := range s.Values {
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s %s %g", s.Name, c.Labels[i], v)))
		}
	}
	return strings.Join(parts, ", ")
}

// bounds are the least and the largest value of a chart, with 0 between them.
func (c *Chart) bounds() (least, most float64) {
	for _, s := range c.Series {
		for _, v := range s.Values {
			least, most = math.Min(least, v), math.Max(most, v)
		}
	}
	if least == most {
		most = least + 1
	}
	return least, most
}

func (c *Chart) axes(b *strings.Builder) {
	least, most := c.bounds()
	y := func(v float64) float64 { return top + (high-top-below)*(most-v)/(most-least) }
	step := (wide - left - right) / float64(len(c.Labels))
	for i := range 5 {
		v := least + (most-least)*float64(i)/4
		fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#8884"/><text x="%.1f" y="%.1f" text-anchor="end">`+
			`%.4g</text>`,
			left, wide-right, y(v), y(v), left-6, y(v)+4, v)
	}
	every := (len(c.Labels) + 11) / 12
	for i, label := range c.Labels {
		if i%every == 0 {
			fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, left+step*(float64(i)+.5), high-below+16,
				esc(fault.Clip(label, 12)))
		}
	}
	for n, s := range c.Series {
		colour := palette[n%len(palette)]
		if c.Kind == "line" {
			points := make([]string, len(s.Values))
			for i, v := range s.Values {
				points[i] = fmt.Sprintf("%.1f,%.1f", left+step*(float64(i)+.5), y(v))
			}
			fmt.Fprintf(b, `<polyline fill="none" stroke="#%s" stroke-width="2" points="%s"/>`, colour, strings.Join(points, " "))
		} else {
			thick := step * .8 / float64(len(c.Series))
			for i, v := range s.Values {
				x := left + step*float64(i) + step*.1 + thick*float64(n)
				fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="#%s"/>`, x, math.Min(y(v), y(0)), thick,
					math.Abs(y(v)-y(0)), colour)
			}
		}
		c.key(b, n, s.Name, colour)
	}
}

// key names a colour, below the chart.
func (c *Chart) key(b *strings.Builder, n int, name, colour string) {
	x, y := left+float64(n%4)*145, high-22+float64(n/4)*16
	fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="10" height="10" fill="#%s"/><text x="%.1f" y="%.1f">%s</text>`, x, y-9, colour,
		x+15, y,
		esc(fault.Clip(name, 18)))
}

func (c *Chart) pie(b *strings.Builder) {
	sum := 0.0
	for _, v := range c.Series[0].Values {
		sum += v
	}
	const x, y, r = 160.0, 150.0, 130.0
	at := -math.Pi / 2
	for i, v := range c.Series[0].Values {
		colour := palette[i%len(palette)]
		if part := v / math.Max(sum, 1e-300); part > .9999 {
			fmt.Fprintf(b, `<circle cx="%g" cy="%g" r="%g" fill="#%s"/>`, x, y, r, colour)
		} else if part > 0 {
			to, large := at+2*math.Pi*part, 0
			if part > .5 {
				large = 1
			}
			fmt.Fprintf(b, `<path d="M%g %gL%.2f %.2fA%g %g 0 %d 1 %.2f %.2fZ" fill="#%s"/>`, x, y, x+r*math.Cos(at),
				y+r*math.Sin(at), r, r, large,
				x+r*math.Cos(to), y+r*math.Sin(to), colour)
			at = to
		}
		if i < 16 {
			fmt.Fprintf(b, `<rect x="330" y="%d" width="10" height="10" fill="#%s"/><text x="346" y="%d">%s: %g</text>`, 20+i*18,
				colour, 29+i*18,
				esc(fault.Clip(c.Labels[i], 30)), v)
		}
	}
}
