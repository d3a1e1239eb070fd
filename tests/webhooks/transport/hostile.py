"""URLs that try to reach what they must not: by spelling, by parsers' quarrels, by names and by plain asking.

PORT stands for the port that a listener waits on.
"""

from ipaddress import IPv4Address

PORT = "{port}"
TARGETS = ("127.0.0.1", "169.254.169.254", "10.0.0.1", "0.0.0.0")


def words(text: str) -> list[str]:
    return text.split()


def _spellings(address: IPv4Address) -> list[str]:
    """Return spellings that C libraries and most browsers accept for this address."""
    number, octets = int(address), address.packed
    decimal = [str(octet) for octet in octets]
    low, middle = number & 0xFFFF, number & 0xFFFFFF
    return [
        str(number),
        hex(number),
        hex(number).upper(),
        f"0{number:o}",
        str(number + 2**32),
        ".".join(f"{octet:#x}" for octet in octets),
        ".".join(f"0{octet:o}" for octet in octets),
        ".".join(f"{octet:03d}" for octet in octets),
        ".".join([f"{octets[0]:#x}", *decimal[1:]]),
        ".".join([*decimal[:3], f"{octets[3]:#x}"]),
        f"{decimal[0]}.{middle}",
        f"{decimal[0]}.{decimal[1]}.{low}",
        f"{octets[0]:#x}.{middle}",
        f"0{octets[0]:o}.{middle:#x}",
        f"{address}.",
        f"{address}..",
        f".{address}",
        f"{address}.0",
        f"{octets[0] + 256}.{decimal[1]}.{decimal[2]}.{decimal[3]}",
        str(address).translate(str.maketrans("0123456789", "０１２３４５６７８９")),
        str(address).replace(".", "。"),
        str(address).replace(".", "．"),
        str(address).replace(".", "｡"),
        str(address).replace("1", "①"),
        str(address).replace("1", "¹"),
        str(address).replace(".", "%2e"),
        "".join(f"%{ord(character):02x}" for character in str(address)),
        f"{address}%00",
        f"{address}%20",
        f"[{address}]",
    ]


SPELT_ODDLY = {text for target in TARGETS for text in _spellings(IPv4Address(target))} - set(TARGETS)

BAD_BRACKETS = words("""
    [::1 ::1] [::1]] [[::1]] [::1].shop.example [::1%lo] [::1%25lo] [fe80::1%eth0] [fe80::1%25eth0] [::1%00]
    [v1.fe80] [localhost] [] [:] [:::1] [::1::] [1::2::3] [12345::] [::ffff:127.1] [::ffff:0177.0.0.1]
    [::ffff:256.0.0.1] [::1/128] [::%31] [::１] [::ffff:127。0。0。1] [0:0:0:0:0:0:0:0:1] [2606:4700::1%25lo]
""")

BAD_NAMES = [
    "",
    ".",
    "..",
    "localhost.",
    "localhost..",
    ".localhost",
    "shop..example",
    "shop.example.",
    "-shop.example",
    "shop-.example",
    "shop.example-",
    "localho%73t",
    "%6cocalhost",
    "localhost%00",
    "localhost%00.shop.example",
    "localhost%0d%0aX:y",
    "localhost%2eshop.example",
    "shop.example%23@localhost",
    "shop.example%2f@localhost",
    "shop.example,localhost",
    "shop.example;localhost",
    "shop.example&localhost",
    "shop.example|localhost",
    "shop.example`id`",
    "$(id).shop.example",
    "shop!example",
    "shop*.example",
    "*",
    "'localhost'",
    '"localhost"',
    "<localhost>",
    "{localhost}",
    "localhost^",
    "~localhost",
    "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
    "ｌocalhost",
    "loc\u00adalhost",
    "local\u200bhost",
    "localhost\u3002",
    "\u202elocalhost",
    "\u2028localhost",
    "localho\u017ft",
    "\u212aiosk.example",
    "bücher.example",
    "localhost\ufeff",
    "shop.example\uff0flocalhost",
    "shop.example\uff20localhost",
    "shop.example\u2100",
    "a" * 64 + ".example",
    ".".join(["a" * 49] * 6),
    "shop.0x",
    "shop.0x7f",
    "shop.1",
    "0x",
    "0x.0x.0x.0x",
    "1.2.3",
    "1.2.3.4.5",
    "256.256.256.256",
    "1.2.3.0x4",
    "+1.2.3.4",
    "0b1.0.0.1",
]

USER_INFORMATION = [
    f"http://{text}"
    for text in (
        f"user@127.0.0.1:{PORT}/",
        f"user:secret@127.0.0.1:{PORT}/",
        f":@127.0.0.1:{PORT}/",
        f"@127.0.0.1:{PORT}/",
        f"@@127.0.0.1:{PORT}/",
        f"shop.example@127.0.0.1:{PORT}/",
        f"shop.example:80@127.0.0.1:{PORT}/",
        f"127.0.0.1:{PORT}@shop.example/",
        f"shop.example:80@user@127.0.0.1:{PORT}/",
        f"shop.example%40127.0.0.1:{PORT}/",
        f"shop.example%3a80@127.0.0.1:{PORT}/",
        f"a@b@127.0.0.1:{PORT}/",
        f"user%0d%0a@127.0.0.1:{PORT}/",
        f"[::1]@127.0.0.1:{PORT}/",
        f"shop.example:@127.0.0.1:{PORT}/",
        f"＠127.0.0.1:{PORT}/",
    )
]

BACKSLASHES = [
    rf"http:\\127.0.0.1:{PORT}\\",
    rf"http:/\127.0.0.1:{PORT}/",
    rf"http://\127.0.0.1:{PORT}/",
    rf"http://127.0.0.1:{PORT}\@shop.example/",
    rf"http://shop.example\@127.0.0.1:{PORT}/",
    rf"http://shop.example\127.0.0.1:{PORT}/",
    rf"http://127.0.0.1\.shop.example:{PORT}/",
    rf"http://127.0.0.1:{PORT}/path\..",
    rf"http://127.0.0.1:{PORT}/?a=\b",
    rf"http://127.0.0.1:{PORT}\#@shop.example",
    rf"http:\/\/127.0.0.1:{PORT}",
]

CONTROLS = [
    url
    for character in [*map(chr, range(0x21)), "\x7f", "\x85", "\x9f", "\ud800"]
    for url in (
        f"{character}http://127.0.0.1:{PORT}/",
        f"http://127.0.0.1{character}:{PORT}/",
        f"http://127.0.0.1:{PORT}/{character}HTTP/1.1",
        f"http://127.0.0.1:{PORT}{character}",
    )
]

SCHEMES = [
    f"{scheme}127.0.0.1:{PORT}/"
    for scheme in words("""
        ftp:// file:// gopher:// dict:// ldap:// ldaps:// ws:// wss:// tftp:// sftp:// ssh:// telnet://
        redis:// jar: jar:http:// view-source:http:// javascript:// data: netdoc:// unix:// http+unix://
        httpx:// https+http:// h2:// shttp:// blob:http:// about: // / http: http:/ http:/// https:/// http//:
        :// http+:// hｔtp:// ʜttp:// %68ttp://
    """)
]

PORTS = [
    f"http://127.0.0.1:{port}/"
    for port in words("""
        0 00 1 7 21 22 23 25 53 110 111 143 389 445 465 587 636 873 993 1023 65536 65615 99999 4294967376 -80
        +80 080 0443 0x50 8e1 80.0 80,443 80:80 :80 http ８０ 80%20 1_024
    """)
] + [f"http://127.0.0.1:{tail}" for tail in ("", "/", "/:80", "?", "#")]

# Refused for their looks alone, in both modes and whatever is allowed.
FORBIDDEN = [
    *(f"http://{host}:{PORT}/" for host in [*SPELT_ODDLY, *BAD_BRACKETS, *BAD_NAMES]),
    *USER_INFORMATION,
    *BACKSLASHES,
    *CONTROLS,
    *SCHEMES,
    *PORTS,
    "",
    "http",
    "127.0.0.1",
    f"127.0.0.1:{PORT}",
    "localhost",
]

# Well written, and leading where nothing may be sent.
ASTRAY = [
    f"http://{host}:{PORT}/"
    for host in words("""
        127.0.0.1 127.0.0.2 127.255.255.254 0.0.0.0 0.1.2.3 10.0.0.1 172.16.0.1 192.168.0.1 192.0.2.2
        169.254.169.254 169.254.170.2 100.100.100.200 100.64.0.1 168.63.129.16 198.18.0.1 224.0.0.1
        239.255.255.255 240.0.0.1 255.255.255.255 [::1] [::] [0:0:0:0:0:0:0:1]
        [0000:0000:0000:0000:0000:0000:0000:0001] [::0001] [::127.0.0.1] [::7f00:1] [::ffff:127.0.0.1]
        [::FFFF:7F00:1] [0:0:0:0:0:ffff:7f00:1] [::ffff:0:127.0.0.1] [::ffff:169.254.169.254]
        [64:ff9b::127.0.0.1] [64:ff9b::a9fe:a9fe] [64:ff9b:1::7f00:1] [2002:7f00:1::] [2002:a9fe:a9fe::1]
        [2001:0:7f00:1::] [2001:0:4136:e378:8000:63bf:80ff:fffe] [fe80::1] [fec0::1] [fc00::1] [fd00::2]
        [fd00:ec2::254] [ff02::1] [ff01::1] [100::1] [2001:db8::1] [3fff::1] [5f00::1] [2001:10::1]
        [2001:20::1] [::2] localhost LOCALHOST LocalHost localhost.localdomain ip6-localhost
        127.0.0.1.nip.example 7f000001.nip.example metadata metadata.google.internal instance-data
        kubernetes.default.svc intranet printer.local 1e9 0b1 127-0-0-1 xn--lcalhost-6of.example shop.example
        a.b.c.d.e.f localhost.shop.example _service.example 0x7f.example 2130706433.example
    """)
] + [
    f"http://shop.example:{PORT}{target}"
    for target in (
        "",
        "?@127.0.0.1",
        "#@127.0.0.1/",
        "/@127.0.0.1",
        "/%0d%0aHost:x",
        "//127.0.0.1/",
        "/é?ü",
        "/..//..",
        "/%",
    )
]
