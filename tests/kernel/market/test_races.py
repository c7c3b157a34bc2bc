"""Several writers of the same prices leave each of them once, and none waits for another in a circle."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from minara_site.kernel.market.models import PriceBar, PricePoint
from tests.kernel.market.rows import bar, put_bars, put_points

WRITERS, ROUNDS = 4, 5


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_writers_of_the_same_prices_leave_each_of_them_once(now):
    gate = Barrier(WRITERS)

    def write(writer):
        try:
            for number in range(ROUNDS):
                gate.wait(timeout=30)
                hours = range(20) if writer % 2 else range(19, -1, -1)
                put_bars(*(bar(hour, writer + 1) for hour in hours), symbol=f"S{number}", now=now)
                put_points(*((hour, writer + 1) for hour in hours), symbol=f"S{number}", now=now)
        finally:
            connection.close()

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, range(WRITERS)))
    assert PriceBar.objects.count() == PricePoint.objects.count() == 20 * ROUNDS
    for number in range(ROUNDS):  # each call is whole: its prices are of one writer
        for rows, name in ((PriceBar, "close"), (PricePoint, "price")):
            assert rows.objects.filter(symbol=f"S{number}").values(name).distinct().count() == 1
