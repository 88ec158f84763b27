package org.revenantdb.jmh.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class HeapWalkTest {
  private final HeapWalk walk = new HeapWalk();

  /** The objects to count. */
  private static class Counted {
    final long[] array;
    final @Nullable Object[] others;
    @Nullable Stranger stranger;

    Counted(int length, @Nullable Object... others) {
      this.array = new long[length];
      this.others = others;
    }
  }

  private static final class Child extends Counted {
    int more;

    Child(int length) {
      super(length);
    }
  }

  /** Objects that belong to others. */
  private static final class Stranger {
    final byte[] array = new byte[100_000];
    final Counted behind = new Counted(100_000);
  }

  @Test
  void bytes_areWhatAThreadAllocatesForIt() throws Exception {
    tree(); // loads the needed classes
    Object[] made = new Object[1];
    long allocated = allocatedBy(HeapWalkTest::tree, made);
    assertEquals(allocated, bytes(made[0]));
  }

  private static Counted tree() {
    return new Counted(3, new Counted(1_000), null, new Child(7), new Counted(0));
  }

  private static long allocatedBy(Supplier<Object> maker, Object[] made) {
    var threads =
        assertInstanceOf(
            com.sun.management.ThreadMXBean.class, ManagementFactory.getThreadMXBean());
    long before = threads.getCurrentThreadAllocatedBytes();
    made[0] = maker.get();
    return threads.getCurrentThreadAllocatedBytes() - before;
  }

  @Test
  void fields_ofAParent_areFollowed() throws Exception {
    assertTrue(bytes(new Child(1_000)) > 8_000);
  }

  @Test
  void foreignObjects_andObjectsBehindThem_doNotCount() throws Exception {
    Counted one = new Counted(10);
    long alone = bytes(one);
    one.stranger = new Stranger();
    assertEquals(alone, bytes(one));
  }

  @Test
  void twoWaysToOneObject_countItOnce() throws Exception {
    Counted shared = new Counted(1_000);
    long twice = bytes(new Counted(0, shared, shared));
    assertEquals(bytes(new Counted(0, shared, null)), twice);
  }

  @Test
  void ours_areFoundBehindStrangers() throws Exception {
    Stranger stranger = new Stranger();
    assertEquals(identical(stranger, stranger.behind), walk.ours(new Object[] {stranger}));
  }

  @Test
  void lambdas_areCountedByTheirClass() throws Exception {
    Counted captured = new Counted(10);
    Supplier<Object> lambda = () -> captured;
    assertEquals(identical(lambda, captured), walk.ours(lambda));
    assertTrue(walk.shallow(lambda) > 0);
  }

  private long bytes(Object root) throws Exception {
    return walk.bytes(List.of(root), Counted.class::isAssignableFrom);
  }

  private static Set<Object> identical(Object... objects) {
    Set<Object> set = Collections.newSetFromMap(new IdentityHashMap<>());
    Collections.addAll(set, objects);
    return set;
  }
}
