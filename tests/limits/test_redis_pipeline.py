"""The Redis pipeline: commands sent together are answered together, each with its own answer."""

import socket
from typing import Any

import pytest
from django.conf import settings
from redis import RedisError

from payments.embedded import redis_server
from payments.redis_client.pipeline import RedisPipeline
from tests.concurrency import at_once
from tests.support.redis_process import RedisProcess


def test_each_command_has_its_answer(who: str) -> None:
    assert RedisPipeline(settings.REDIS_URL).ask([("INCR", who), ("EXPIRE", who, 60), ("GET", who)]) == [1, 1, b"1"]


def test_the_command_after_a_refused_one_has_its_own_answer(who: str) -> None:
    line = RedisPipeline(settings.REDIS_URL)
    with pytest.raises(RedisError):
        line.ask([("NO-SUCH-COMMAND",), ("SET", who, "left unread")])
    assert line.ask([("PING",)]) == [b"PONG"]


def test_a_restarted_redis_is_reconnected(own_redis: RedisProcess) -> None:
    own_redis.start()
    line = RedisPipeline(own_redis.url)
    line.ask([("PING",)])
    own_redis.stop()
    own_redis.start()
    assert line.ask([("PING",)]) == [b"PONG"]


def test_a_redis_that_has_made_its_socket_and_takes_no_connections_yet_is_not_ready(own_redis: RedisProcess) -> None:
    with socket.socket(socket.AF_UNIX) as begun:
        begun.bind(str(own_redis.folders.redis_socket))
        assert not redis_server.is_ready(own_redis.folders)
        begun.listen()
        assert redis_server.is_ready(own_redis.folders)


def test_threads_do_not_read_each_others_answers() -> None:
    line = RedisPipeline(settings.REDIS_URL)

    def asked(number: int) -> list[Any]:
        return [line.ask([("ECHO", number)]) for _ in range(50)]

    assert at_once(8, asked) == [[[str(number).encode()]] * 50 for number in range(8)]
