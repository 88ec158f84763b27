package org.revenantdb.gc.spill;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;

/** Fences and the filter of a run, against what a sorted map says. */
class FencesTest {
  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final Random random = new Random(seed);

  @Test
  void partOf_isTheOneThatEndsBehindTheRow_howeverFewFencesAreLeft() {
    System.out.println("FencesTest -Drevenant.seed=" + seed);
    for (int limit : new int[] {60, 200, 1_000, 100_000}) {
      TreeSet<byte[]> rows = new TreeSet<>(Arrays::compareUnsigned);
      for (int i = 0; i < 1_000; i++) {
        byte[] row = new byte[1 + random.nextInt(12)];
        for (int at = 0; at < row.length; at++) {
          row[at] = (byte) (random.nextInt(3) - 1);
        }
        rows.add(row);
      }
      Fences fences = new Fences(limit);
      TreeMap<byte[], Long> places = new TreeMap<>(Arrays::compareUnsigned);
      byte[] last = {};
      long place = 0;
      for (byte[] row : rows) {
        if (place % 3 == 0) {
          fences.add(last, row, place);
        }
        places.put(row, place);
        last = row;
        place++;
      }
      fences.finish(place);
      assertTrue(fences.bytes() <= limit, fences.bytes() + " of " + limit);
      assertEquals(0, fences.position(0));
      assertEquals(place, fences.position(fences.count()));
      places.forEach((row, at) -> {
        int part = fences.partOf(row);
        assertTrue(
            fences.position(part) <= at && at < fences.position(part + 1),
            "row at " + at + " in part " + part);
      });
    }
  }

  @Test
  void filter_missesNoRow_andLetsFewOthersThrough() {
    BloomFilter filter = new BloomFilter(10_000, 1 << 20);
    long[] rows = random.longs(10_000).toArray();
    for (long row : rows) {
      filter.add(row);
    }
    for (long row : rows) {
      assertTrue(filter.mayHave(row));
    }
    long through = random.longs(10_000).filter(filter::mayHave).count();
    assertTrue(through < 300, through + " of 10,000");
    BloomFilter tiny = new BloomFilter(10_000, 8);
    assertEquals(8, tiny.bytes());
    tiny.add(rows[0]);
    assertTrue(tiny.mayHave(rows[0]));
  }
}
