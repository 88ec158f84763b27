package org.revenantdb.jmh;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What does it cost to work on an 8 KiB page off heap, by the way in which the page is reached?
 *
 * <p>Four variants. <b>slice</b>: a slice of a slab of 4 MiB in its own shared arena, taken once
 * per operation. <b>segment</b>: one large segment in a field, with each access at a long offset.
 * <b>buffer</b>: one direct {@code ByteBuffer}, which is limited to 2 GiB. <b>array</b>: one {@code
 * byte[]} on the heap, which has no compare-and-set. Four operations on a random page: read a word,
 * compare and set a word, copy 100 bytes out, search 200 keys.
 *
 * <p>{@code ./revenant bench off-heap}. We would give up slices if another way without a flag were
 * a tenth faster at the search, which is what an index does most.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class OffHeapAccessBenchmark {
  private static final int PAGE_SIZE = 8192;
  private static final int SLAB_SIZE = 4 << 20;
  private static final int PAGES_PER_SLAB = SLAB_SIZE / PAGE_SIZE;

  private static final int WORD = 8;
  private static final int KEYS = 96;
  private static final int KEY_COUNT = 200;
  private static final int VALUE = 4096;
  private static final int VALUE_SIZE = 100;

  private static final ValueLayout.OfLong LAYOUT =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle IN_SEGMENT = LAYOUT.varHandle();
  private static final VarHandle IN_BUFFER =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle IN_ARRAY =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** The memory that the random pages come from: in the first caches, or in none. */
  @Param({"64", "262144"})
  public int kibibytes;

  private final byte[] value = new byte[VALUE_SIZE];
  private long random = 0x9E3779B97F4A7C15L;
  private int pageMask;

  private Arena[] arenas = {};
  private MemorySegment[] slabs = {};
  private MemorySegment segment = MemorySegment.NULL;
  private ByteBuffer buffer = ByteBuffer.allocate(0);
  private byte[] array = {};

  /** JMH makes one. */
  public OffHeapAccessBenchmark() {}

  /** Fills four regions with the same pages, each of sorted even keys. */
  @Setup
  public void allocate() {
    int size = Math.multiplyExact(kibibytes, 1024);
    int pages = size / PAGE_SIZE;
    pageMask = pages - 1;
    int slabCount = Math.ceilDiv(pages, PAGES_PER_SLAB);
    arenas = new Arena[slabCount + 1];
    slabs = new MemorySegment[slabCount];
    for (int i = 0; i < slabCount; i++) {
      arenas[i] = Arena.ofShared();
      slabs[i] = arenas[i].allocate(SLAB_SIZE, PAGE_SIZE);
    }
    arenas[slabCount] = Arena.ofShared();
    segment = arenas[slabCount].allocate(size, PAGE_SIZE);
    buffer = ByteBuffer.allocateDirect(size);
    array = new byte[size];
    for (int page = 0; page < pages; page++) {
      int start = page * PAGE_SIZE;
      for (int i = 0; i < KEY_COUNT; i++) {
        int offset = KEYS + i * Long.BYTES;
        IN_SEGMENT.set(slab(page), offset + startInSlab(page), 2L * i);
        IN_SEGMENT.set(segment, (long) start + offset, 2L * i);
        IN_BUFFER.set(buffer, start + offset, 2L * i);
        IN_ARRAY.set(array, start + offset, 2L * i);
      }
    }
  }

  /** Gives the memory back. */
  @TearDown
  public void free() {
    for (Arena arena : arenas) {
      arena.close();
    }
  }

  /**
   * Reads a word of a slice.
   *
   * @return the word
   */
  @Benchmark
  public long read_slice() {
    return (long) IN_SEGMENT.get(slice(nextPage()), (long) WORD);
  }

  /**
   * Reads a word of the segment.
   *
   * @return the word
   */
  @Benchmark
  public long read_segment() {
    return (long) IN_SEGMENT.get(segment, start(nextPage()) + WORD);
  }

  /**
   * Reads a word of the buffer.
   *
   * @return the word
   */
  @Benchmark
  public long read_buffer() {
    return (long) IN_BUFFER.get(buffer, nextPage() * PAGE_SIZE + WORD);
  }

  /**
   * Reads a word of the array.
   *
   * @return the word
   */
  @Benchmark
  public long read_array() {
    return (long) IN_ARRAY.get(array, nextPage() * PAGE_SIZE + WORD);
  }

  /**
   * Adds one to a word of a slice.
   *
   * @return whether it was the first to
   */
  @Benchmark
  public boolean cas_slice() {
    MemorySegment page = slice(nextPage());
    long seen = (long) IN_SEGMENT.getVolatile(page, (long) WORD);
    return IN_SEGMENT.compareAndSet(page, (long) WORD, seen, seen + 1);
  }

  /**
   * Adds one to a word of the segment.
   *
   * @return whether it was the first to
   */
  @Benchmark
  public boolean cas_segment() {
    long offset = start(nextPage()) + WORD;
    long seen = (long) IN_SEGMENT.getVolatile(segment, offset);
    return IN_SEGMENT.compareAndSet(segment, offset, seen, seen + 1);
  }

  /**
   * Adds one to a word of the buffer.
   *
   * @return whether it was the first to
   */
  @Benchmark
  public boolean cas_buffer() {
    int offset = nextPage() * PAGE_SIZE + WORD;
    long seen = (long) IN_BUFFER.getVolatile(buffer, offset);
    return IN_BUFFER.compareAndSet(buffer, offset, seen, seen + 1);
  }

  /**
   * Copies a value out of a slice.
   *
   * @return the copy
   */
  @Benchmark
  public byte[] copy_slice() {
    MemorySegment page = slice(nextPage());
    MemorySegment.copy(page, ValueLayout.JAVA_BYTE, VALUE, value, 0, VALUE_SIZE);
    return value;
  }

  /**
   * Copies a value out of the segment.
   *
   * @return the copy
   */
  @Benchmark
  public byte[] copy_segment() {
    long offset = start(nextPage()) + VALUE;
    MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, offset, value, 0, VALUE_SIZE);
    return value;
  }

  /**
   * Copies a value out of the buffer.
   *
   * @return the copy
   */
  @Benchmark
  public byte[] copy_buffer() {
    buffer.get(nextPage() * PAGE_SIZE + VALUE, value, 0, VALUE_SIZE);
    return value;
  }

  /**
   * Copies a value out of the array.
   *
   * @return the copy
   */
  @Benchmark
  public byte[] copy_array() {
    System.arraycopy(array, nextPage() * PAGE_SIZE + VALUE, value, 0, VALUE_SIZE);
    return value;
  }

  /**
   * Searches a key in a slice.
   *
   * @return its index
   */
  @Benchmark
  public int search_slice() {
    MemorySegment page = slice(nextPage());
    long key = nextKey();
    int low = 0;
    int high = KEY_COUNT - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      long found = (long) IN_SEGMENT.get(page, (long) (KEYS + middle * Long.BYTES));
      if (found < key) {
        low = middle + 1;
      } else if (found > key) {
        high = middle - 1;
      } else {
        return middle;
      }
    }
    return ~low;
  }

  /**
   * Searches a key in the segment.
   *
   * @return its index
   */
  @Benchmark
  public int search_segment() {
    long start = start(nextPage());
    long key = nextKey();
    int low = 0;
    int high = KEY_COUNT - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      long found = (long) IN_SEGMENT.get(segment, start + KEYS + (long) middle * Long.BYTES);
      if (found < key) {
        low = middle + 1;
      } else if (found > key) {
        high = middle - 1;
      } else {
        return middle;
      }
    }
    return ~low;
  }

  /**
   * Searches a key in the buffer.
   *
   * @return its index
   */
  @Benchmark
  public int search_buffer() {
    int start = nextPage() * PAGE_SIZE;
    long key = nextKey();
    int low = 0;
    int high = KEY_COUNT - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      long found = (long) IN_BUFFER.get(buffer, start + KEYS + middle * Long.BYTES);
      if (found < key) {
        low = middle + 1;
      } else if (found > key) {
        high = middle - 1;
      } else {
        return middle;
      }
    }
    return ~low;
  }

  /**
   * Searches a key in the array.
   *
   * @return its index
   */
  @Benchmark
  public int search_array() {
    int start = nextPage() * PAGE_SIZE;
    long key = nextKey();
    int low = 0;
    int high = KEY_COUNT - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      long found = (long) IN_ARRAY.get(array, start + KEYS + middle * Long.BYTES);
      if (found < key) {
        low = middle + 1;
      } else if (found > key) {
        high = middle - 1;
      } else {
        return middle;
      }
    }
    return ~low;
  }

  private MemorySegment slice(int page) {
    return slab(page).asSlice(startInSlab(page), PAGE_SIZE);
  }

  private MemorySegment slab(int page) {
    return slabs[page / PAGES_PER_SLAB];
  }

  private static long startInSlab(int page) {
    return (long) (page % PAGES_PER_SLAB) * PAGE_SIZE;
  }

  private static long start(int page) {
    return (long) page * PAGE_SIZE;
  }

  /** Marsaglia's xorshift: the random number costs about two nanoseconds of every figure here. */
  private int nextPage() {
    random ^= random << 13;
    random ^= random >>> 7;
    random ^= random << 17;
    return (int) random & pageMask;
  }

  private long nextKey() {
    return 2 * (((random >>> 32) * KEY_COUNT) >>> 32);
  }
}
