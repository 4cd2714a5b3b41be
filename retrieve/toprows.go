package retrieve

import "slices"

// rowScore is one row of a scan with its rounded score.
type rowScore struct {
	row   int32
	score float32
}

// topRows keeps the best rows of a scan in a heap with the worst on top.
// Equal scores keep the smaller node id, whatever the order of the scan.
type topRows struct {
	most int
	rows []tableRow
	heap []rowScore
}

// scan offers rows with their rounded scores.
func (t *topRows) scan(c *codes, q *codedQuery, rows []int32) {
	var scores [256]float32
	for part := range slices.Chunk(rows, len(scores)) {
		c.scores(q, part, scores[:])
		for i, r := range part {
			if len(t.heap) < t.most || scores[i] >= t.heap[0].score {
				t.offer(r, scores[i])
			}
		}
	}
}

func (t *topRows) offer(row int32, score float32) {
	s := rowScore{row, score}
	if len(t.heap) < t.most {
		t.heap = append(t.heap, s)
		for i := len(t.heap) - 1; i > 0 && t.worse(t.heap[i], t.heap[(i-1)/2]); i = (i - 1) / 2 {
			t.heap[i], t.heap[(i-1)/2] = t.heap[(i-1)/2], t.heap[i]
		}
		return
	}
	if score < t.heap[0].score || !t.worse(t.heap[0], s) {
		return
	}
	t.heap[0] = s
	for i := 0; ; {
		k := 2*i + 1
		if k >= len(t.heap) {
			return
		}
		if k+1 < len(t.heap) && t.worse(t.heap[k+1], t.heap[k]) {
			k++
		}
		if !t.worse(t.heap[k], t.heap[i]) {
			return
		}
		t.heap[i], t.heap[k] = t.heap[k], t.heap[i]
		i = k
	}
}

func (t *topRows) worse(a, b rowScore) bool {
	if a.score != b.score {
		return a.score < b.score
	}
	return t.rows[a.row].node > t.rows[b.row].node
}
