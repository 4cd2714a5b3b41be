package retrieve

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"unsafe"
)

// vectorFile keeps the exact vectors of rows out of memory: in a file without a
// name, which ends with the process, mapped part by part. Where none can be had
// the vectors stay in memory. It is scratch: what must last is in the log and
// the snapshot.
type vectorFile struct {
	dir   string // "" is the system's folder for such files
	dim   int
	file  *os.File
	parts [][]byte // mapped; nil where none of the rows was kept
	off   bool     // there is no file to be had
}

// vectorPart is how many rows are mapped at once.
const vectorPart = 4096

// keep gives the vector of a row a place in the file. What it gives back is v
// itself where that is not possible. Nobody reads the vector the row had before.
func (f *vectorFile) keep(row int32, v []float32) []float32 {
	part, at := int(row)/vectorPart, int(row)%vectorPart*4*f.dim
	if f.off || !littleEndian() || !f.reach(part) {
		return v
	}
	if _, err := f.file.WriteAt(floatBytes(v), int64(part)*f.partSize()+int64(at)); err != nil {
		return v
	}
	return mappedVector(f.parts[part][at:], f.dim)
}

func (f *vectorFile) partSize() int64 { return int64(vectorPart * 4 * f.dim) }

// reach maps a part of the file, if it is not.
func (f *vectorFile) reach(part int) bool {
	for len(f.parts) <= part {
		f.parts = append(f.parts, nil)
	}
	if f.parts[part] != nil {
		return true
	}
	var err error
	if f.file == nil {
		f.file, err = namelessFile(f.dir)
	}
	if err == nil {
		f.parts[part], err = f.mapPart(int64(part) * f.partSize())
	}
	f.off = err != nil
	return !f.off
}

// mapPart maps a part of the file, made so long first that it can be read to its end.
func (f *vectorFile) mapPart(first int64) ([]byte, error) {
	info, err := f.file.Stat()
	if err == nil && info.Size() < first+f.partSize() {
		err = f.file.Truncate(first + f.partSize())
	}
	if err != nil {
		return nil, err
	}
	return mapRange(f.file, first, int(f.partSize()))
}

// close lets the file and its mappings go. Nothing of it may be in use.
func (f *vectorFile) close() error {
	var errs []error
	for _, p := range f.parts {
		errs = append(errs, unmapFile(p))
	}
	if f.file != nil {
		errs = append(errs, f.file.Close())
	}
	f.file, f.parts = nil, nil
	return errors.Join(errs...)
}

// floatBytes are the bytes of v, little-endian.
func floatBytes(v []float32) []byte {
	out := make([]byte, 0, 4*len(v))
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

// mappedVector is a vector in mapped memory, or a copy where the machine
// stores numbers the other way round.
func mappedVector(b []byte, dim int) []float32 {
	if littleEndian() {
		return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), dim)
	}
	out := make([]float32, dim)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

func littleEndian() bool { return binary.NativeEndian.Uint16([]byte{1, 0}) == 1 }
