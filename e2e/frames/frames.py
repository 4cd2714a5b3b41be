"""Takes one frame a second out of a video and writes them as JPEG, 512 wide.

Usage: frames.py READER VIDEO FOLDER, with READER one of opencv, pyav, decord,
each decoding on one thread in the way its documents show.
"""

import sys

import cv2


def opencv(path):
    film = cv2.VideoCapture(path, cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, 1])
    rate, n, wanted = film.get(cv2.CAP_PROP_FPS), 0, 0.0
    while film.grab():
        if n / rate >= wanted - 1e-6:
            yield film.retrieve()[1]
            wanted += 1
        n += 1


def pyav(path):
    import av

    with av.open(path) as film:
        stream = film.streams.video[0]
        stream.thread_type, stream.codec_context.thread_count = "NONE", 1
        wanted = 0.0
        for frame in film.decode(stream):
            if frame.time >= wanted - 1e-6:
                yield frame.to_ndarray(format="bgr24")
                wanted += 1


def decord(path):
    import decord as reader

    film = reader.VideoReader(path, num_threads=1)
    rate = film.get_avg_fps()
    for second in range(int(len(film) / rate)):
        yield film[round(second * rate)].asnumpy()[:, :, ::-1]


cv2.setNumThreads(1)
name, path, folder = sys.argv[1:]
for i, frame in enumerate({"opencv": opencv, "pyav": pyav, "decord": decord}[name](path)):
    height = round(frame.shape[0] * 512 / frame.shape[1] / 2) * 2
    cv2.imwrite(f"{folder}/{i:06d}.jpg", cv2.resize(frame, (512, height), interpolation=cv2.INTER_AREA), [cv2.IMWRITE_JPEG_QUALITY, 90])
