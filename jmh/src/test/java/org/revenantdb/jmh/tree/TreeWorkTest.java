package org.revenantdb.jmh.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Test;
import org.revenantdb.jmh.fork.Sessions;

/** The work matches the names of the points, and a wrong answer is detected. */
class TreeWorkTest {
  private static final int ROWS = 500;

  /** Records its calls, and returns prepared answers. */
  private static final class Fake implements TreeStore.Session {
    private final List<String> asked = new ArrayList<>();
    private final List<Integer> loaded = new ArrayList<>();
    private long wrongBy;
    private int next;

    /** The rows one after the other, which it knows as well. */
    private IntSupplier rows() {
      return () -> next++ % ROWS;
    }

    @Override
    public void begin() {
      asked.add("begin");
    }

    @Override
    public long read(byte[] key) {
      asked.add("read");
      return (next - 1) % ROWS + wrongBy;
    }

    @Override
    public void end() {
      asked.add("end");
    }

    @Override
    public long scan(byte[] from, int rows) {
      asked.add("scan");
      long sum = 0;
      for (int i = 0; i < rows; i++) {
        sum += (next - 1) % ROWS + i;
      }
      return sum + wrongBy;
    }

    @Override
    public void update(byte[] key, byte[] value) {
      asked.add("update");
      assertEquals((next - 1) % ROWS, TreeRows.sum(value));
    }

    @Override
    public void load(long first, int count) {
      loaded.add((int) first);
      loaded.add(count);
    }

    private long count(String what) {
      return asked.stream().filter(what::equals).count();
    }
  }

  private final Fake fake = new Fake();

  @Test
  void load_storesEachRowOnce() throws Exception {
    TreeWork.load(fake, 2500);
    assertEquals(List.of(0, 1000, 1000, 1000, 2000, 500), fake.loaded);
  }

  @Test
  void reads_oneInATransaction() throws Exception {
    TreeWork.reads(fake, fake.rows(), 1).step();
    assertEquals(List.of("begin", "read", "end", "begin"), fake.asked.subList(0, 4));
    assertEquals(TreeWork.STEP, fake.count("read"));
    assertEquals(TreeWork.STEP, fake.count("end"));
  }

  @Test
  void reads_aHundredInATransaction() throws Exception {
    TreeWork.reads(fake, fake.rows(), TreeWork.STEP).step();
    assertEquals(TreeWork.STEP, fake.count("read"));
    assertEquals(1, fake.count("begin"));
    assertEquals(1, fake.count("end"));
  }

  @Test
  void mix_hasAboutThatManyReads() throws Exception {
    Sessions.Session mix = TreeWork.mix(fake, fake.rows(), 95, 3);
    for (int i = 0; i < 100; i++) {
      mix.step();
    }
    assertEquals(9500, fake.count("read"), 200, "seed 3");
    assertEquals(10_000, fake.count("read") + fake.count("update"));
  }

  @Test
  void updates_areAMixWithoutReads() throws Exception {
    TreeWork.mix(fake, fake.rows(), 0, 3).step();
    assertEquals(TreeWork.STEP, fake.count("update"));
    assertEquals(TreeWork.STEP, fake.asked.size());
  }

  @Test
  void wrongAnswers_areNoticed() throws Exception {
    TreeWork.scans(fake, fake.rows()).step();
    assertEquals(TreeWork.SCANS_A_STEP, fake.count("scan"));
    fake.wrongBy = 1;
    for (Sessions.Session work :
        List.of(
            TreeWork.reads(fake, fake.rows(), 1),
            TreeWork.readsInside(fake, fake.rows()),
            TreeWork.mix(fake, fake.rows(), 95, 3),
            TreeWork.scans(fake, fake.rows()))) {
      IllegalStateException thrown = assertThrows(IllegalStateException.class, work::step);
      assertTrue(String.valueOf(thrown.getMessage()).contains("row"), thrown::toString);
    }
  }
}
