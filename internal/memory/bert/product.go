package bert

// turn computes n rows of out from n rows of in. Four rows go through two rows of weights at once: each number that is loaded is used
// several times, and the sums do not wait for one another.
func (l *linear) turn(out, in []float32, n int) {
	i := 0
	for ; i+4 <= n; i += 4 {
		a, b := in[i*l.in:(i+1)*l.in], in[(i+1)*l.in:(i+2)*l.in]
		c, d := in[(i+2)*l.in:(i+3)*l.in], in[(i+3)*l.in:(i+4)*l.in]
		o := 0
		for ; o+2 <= l.out; o += 2 {
			w, v := l.weight[o*l.in:(o+1)*l.in], l.weight[(o+1)*l.in:(o+2)*l.in]
			aw, bw, cw, dw, av, bv, cv, dv := eight(w, v, a, b, c, d)
			p, q := l.bias[o], l.bias[o+1]
			out[i*l.out+o], out[i*l.out+o+1] = aw+p, av+q
			out[(i+1)*l.out+o], out[(i+1)*l.out+o+1] = bw+p, bv+q
			out[(i+2)*l.out+o], out[(i+2)*l.out+o+1] = cw+p, cv+q
			out[(i+3)*l.out+o], out[(i+3)*l.out+o+1] = dw+p, dv+q
		}
		for ; o < l.out; o++ {
			w := l.weight[o*l.in : (o+1)*l.in]
			for j, row := range [][]float32{a, b, c, d} {
				out[(i+j)*l.out+o] = dot(w, row) + l.bias[o]
			}
		}
	}
	for ; i < n; i++ {
		row := in[i*l.in : (i+1)*l.in]
		for o := range l.out {
			out[i*l.out+o] = dot(l.weight[o*l.in:(o+1)*l.in], row) + l.bias[o]
		}
	}
}

// eight are the products of two rows of weights with four rows.
func eight(w, v, a, b, c, d []float32) (aw, bw, cw, dw, av, bv, cv, dv float32) {
	v, a, b, c, d = v[:len(w)], a[:len(w)], b[:len(w)], c[:len(w)], d[:len(w)]
	for i, x := range w {
		y := v[i]
		e, f, g, h := a[i], b[i], c[i], d[i]
		aw += x * e
		bw += x * f
		cw += x * g
		dw += x * h
		av += y * e
		bv += y * f
		cv += y * g
		dv += y * h
	}
	return aw, bw, cw, dw, av, bv, cv, dv
}

// dot is the product of two rows.
func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var p, q, r, s float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		p += a[i] * b[i]
		q += a[i+1] * b[i+1]
		r += a[i+2] * b[i+2]
		s += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		p += a[i] * b[i]
	}
	return p + q + r + s
}

// add adds a row to another.
func add(to, from []float32) {
	from = from[:len(to)]
	for i := range to {
		to[i] += from[i]
	}
}

// weigh adds a row, weighted.
func weigh(to, from []float32, by float32) {
	from = from[:len(to)]
	for i := range to {
		to[i] += by * from[i]
	}
}
