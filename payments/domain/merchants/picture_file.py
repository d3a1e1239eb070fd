"""Make a PNG of a picture that somebody sent, in a process of its own: it is opened nowhere else.

Run as a script, it reads the file from its input and writes a PNG of our own to its output: with the picture alone, and
none of what else the file says. It writes nothing for one with too many pixels, and fails for any other that it cannot
read. It has no environment, imports nothing of kaha, and the system ends it where it takes more time or memory.
"""

import resource
import sys
from io import BytesIO

CPU_SECONDS = 3
MEMORY_BYTES = 512 * 1024**2
# Of 3,000 by 3,000 pixels, which take half a second.
PIXELS = 9_000_000
# The longer side. Of the least, any picture has fewer than BYTES.
SIDES = (512, 384, 256)
BYTES = 280 * 1024


def png_of(content: bytes) -> bytes:
    """Return the first picture in `content`, upright; empty where it has too many pixels. Raise what Pillow raises."""
    from PIL import Image, ImageOps

    # The size is in the head of the file, and is looked at before anything is unpacked.
    Image.MAX_IMAGE_PIXELS = None
    image: Image.Image = Image.open(BytesIO(content), formats=["PNG", "JPEG", "WEBP"])
    if image.width * image.height > PIXELS:
        return b""
    image = ImageOps.exif_transpose(image).convert("RGBA")
    for side in SIDES:
        image.thumbnail((side, side))
        image.info = {}
        file = BytesIO()
        image.save(file, "PNG", optimize=True)
        if len(made := file.getvalue()) <= BYTES:
            break
    return made


def main() -> None:
    """Make the PNG of what comes in, within the limits."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    sys.stdout.buffer.write(png_of(sys.stdin.buffer.read()))


if __name__ == "__main__":
    main()
