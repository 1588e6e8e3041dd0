;; y = x @ matrix.T for rows of 32-bit floats, four at a time: x [n, width], matrix [out, width], y [n, out].
;; width is a multiple of 16. If `half` is not 0, the matrix is in bfloat16, which is the upper half of such a float:
;; each is widened as it is read, and what is added to what stays the same.
;; A library as Emscripten loads them: it works on the memory of the program that loads it.

(module
  (@custom "dylink.0" (before first) "\01\04\00\00\00\00") ;; it needs no memory and no table of its own
  (import "env" "memory" (memory 0))

  (func (export "times")
    (param $x i32) (param $matrix i32) (param $y i32) (param $n i32) (param $out i32) (param $width i32) (param $half i32)
    (local $row i32) (local $end i32) (local $i i32) (local $o i32) (local $at i32)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128) (local $two v128) (local $zero v128)

    (local.set $width ;; in bytes from here on
      (i32.shl (local.get $width) (select (i32.const 1) (i32.const 2) (local.get $half))))
    (block $done
      (loop $rows ;; of the matrix: each is read from memory once, and meets all rows of x while it is near
        (br_if $done (i32.ge_u (local.get $o) (local.get $out)))
        (local.set $end (i32.add (local.get $matrix) (local.get $width)))
        (local.set $at (local.get $x))
        (local.set $i (i32.const 0))
        (block $next
          (loop $texts
            (br_if $next (i32.ge_u (local.get $i) (local.get $n)))
            (local.set $a (local.get $zero))
            (local.set $b (local.get $zero))
            (local.set $c (local.get $zero))
            (local.set $d (local.get $zero))
            (local.set $row (local.get $matrix))
            (if (local.get $half)
              (then
                (loop $halves ;; sixteen a turn as below; a shuffle puts two bytes of zero below each of four
                  (local.set $two (v128.load (local.get $row)))
                  (local.set $a (f32x4.add (local.get $a) (f32x4.mul (v128.load (local.get $at))
                    (i8x16.shuffle 0 1 16 17 2 3 18 19 4 5 20 21 6 7 22 23 (local.get $zero) (local.get $two)))))
                  (local.set $b (f32x4.add (local.get $b) (f32x4.mul (v128.load offset=16 (local.get $at))
                    (i8x16.shuffle 8 9 24 25 10 11 26 27 12 13 28 29 14 15 30 31 (local.get $zero) (local.get $two)))))
                  (local.set $two (v128.load offset=16 (local.get $row)))
                  (local.set $c (f32x4.add (local.get $c) (f32x4.mul (v128.load offset=32 (local.get $at))
                    (i8x16.shuffle 0 1 16 17 2 3 18 19 4 5 20 21 6 7 22 23 (local.get $zero) (local.get $two)))))
                  (local.set $d (f32x4.add (local.get $d) (f32x4.mul (v128.load offset=48 (local.get $at))
                    (i8x16.shuffle 8 9 24 25 10 11 26 27 12 13 28 29 14 15 30 31 (local.get $zero) (local.get $two)))))
                  (local.set $at (i32.add (local.get $at) (i32.const 64)))
                  (local.set $row (i32.add (local.get $row) (i32.const 32)))
                  (br_if $halves (i32.lt_u (local.get $row) (local.get $end)))))
              (else
                (loop $numbers ;; sixteen a turn, in four sums of four that do not wait for each other
                  (local.set $a (f32x4.add (local.get $a)
                    (f32x4.mul (v128.load (local.get $row)) (v128.load (local.get $at)))))
                  (local.set $b (f32x4.add (local.get $b)
                    (f32x4.mul (v128.load offset=16 (local.get $row)) (v128.load offset=16 (local.get $at)))))
                  (local.set $c (f32x4.add (local.get $c)
                    (f32x4.mul (v128.load offset=32 (local.get $row)) (v128.load offset=32 (local.get $at)))))
                  (local.set $d (f32x4.add (local.get $d)
                    (f32x4.mul (v128.load offset=48 (local.get $row)) (v128.load offset=48 (local.get $at)))))
                  (local.set $at (i32.add (local.get $at) (i32.const 64)))
                  (local.set $row (i32.add (local.get $row) (i32.const 64)))
                  (br_if $numbers (i32.lt_u (local.get $row) (local.get $end))))))
            (local.set $a (f32x4.add
              (f32x4.add (local.get $a) (local.get $b)) (f32x4.add (local.get $c) (local.get $d))))
            (f32.store ;; y[i, o]
              (i32.add (local.get $y)
                (i32.shl (i32.add (i32.mul (local.get $i) (local.get $out)) (local.get $o)) (i32.const 2)))
              (f32.add
                (f32.add (f32x4.extract_lane 0 (local.get $a)) (f32x4.extract_lane 1 (local.get $a)))
                (f32.add (f32x4.extract_lane 2 (local.get $a)) (f32x4.extract_lane 3 (local.get $a)))))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br $texts)))
        (local.set $matrix (local.get $end))
        (local.set $o (i32.add (local.get $o) (i32.const 1)))
        (br $rows)))))
