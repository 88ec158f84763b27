package org.revenantdb.chaos.disk;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of one file, in blocks that copies share until one of them writes.
 *
 * <p>A block that was never written, or holds only zeros, takes no memory. Bytes behind the end are
 * zeros.
 *
 * <p>Threads: one at a time, but copies of one another may be used by different threads.
 */
public final class FileContent {
  /*
   * A block is immutable once it is shared. `owned` marks the blocks that only this object refers
   * to; copy() clears it on both sides. The hash of the content is a sum over blocks, so a write
   * only subtracts the old value of its blocks and adds the new one. A block of zeros adds nothing,
   * so a hole and written zeros are equal.
   */

  /** Bytes in a block. */
  public static final int BLOCK = 4096;

  private static final byte[] ZEROS = new byte[BLOCK];

  private byte[] @Nullable [] blocks;
  private boolean[] owned;
  private long[] hashes;
  private boolean[] hashed;
  private long size;

  /** Creates an empty file. */
  public FileContent() {
    this(new byte[0][], new boolean[0], new long[0], new boolean[0], 0);
  }

  private FileContent(
      byte[] @Nullable [] blocks, boolean[] owned, long[] hashes, boolean[] hashed, long size) {
    this.blocks = blocks;
    this.owned = owned;
    this.hashes = hashes;
    this.hashed = hashed;
    this.size = size;
  }

  /**
   * Copies the file. This is cheap, because blocks are shared until one side writes them.
   *
   * @return an equal, independent file
   */
  public FileContent copy() {
    Arrays.fill(owned, false);
    return new FileContent(
        blocks.clone(), new boolean[owned.length], hashes.clone(), hashed.clone(), size);
  }

  /**
   * Returns the length of the file.
   *
   * @return bytes
   */
  public long size() {
    return size;
  }

  /**
   * Makes the file longer (with zeros) or shorter.
   *
   * @param newSize in bytes
   */
  public void setSize(long newSize) {
    if (newSize < size) {
      zero(newSize, size);
    }
    ensure(newSize);
    size = newSize;
  }

  /**
   * Reads at a position.
   *
   * @param position in the file
   * @param target filled as far as the file goes
   * @return how many bytes; -1 if the position is at or behind the end and the target has room
   */
  public int read(long position, ByteBuffer target) {
    if (!target.hasRemaining()) {
      return 0;
    }
    if (position >= size) {
      return -1;
    }
    int wanted = (int) Math.min(target.remaining(), size - position);
    int done = 0;
    while (done < wanted) {
      long at = position + done;
      int inBlock = (int) (at % BLOCK);
      int n = Math.min(BLOCK - inBlock, wanted - done);
      byte[] block = block(index(at));
      target.put(block == null ? ZEROS : block, inBlock, n);
      done += n;
    }
    return wanted;
  }

  /**
   * Reads a range.
   *
   * @param position in the file
   * @param length in bytes
   * @return the bytes, zeros where the file has ended
   */
  public byte[] bytes(long position, int length) {
    byte[] result = new byte[length];
    read(position, ByteBuffer.wrap(result));
    return result;
  }

  /**
   * Writes at a position. The file grows as needed, with zeros before the position.
   *
   * @param position in the file
   * @param source written whole
   */
  public void write(long position, ByteBuffer source) {
    if (!source.hasRemaining()) {
      return;
    }
    long end = position + source.remaining();
    ensure(end);
    while (source.hasRemaining()) {
      long at = end - source.remaining();
      int inBlock = (int) (at % BLOCK);
      int n = Math.min(BLOCK - inBlock, source.remaining());
      int index = index(at);
      if (blocks[index] == null && isZero(source, n)) {
        source.position(source.position() + n);
      } else {
        source.get(writable(index), inBlock, n);
      }
    }
    size = Math.max(size, end);
  }

  /**
   * Sets a range to zeros, without making the file longer.
   *
   * @param from the first byte
   * @param to the byte after the last one
   */
  public void zero(long from, long to) {
    long end = Math.min(to, size);
    for (long at = from; at < end; ) {
      int inBlock = (int) (at % BLOCK);
      int n = (int) Math.min(BLOCK - inBlock, end - at);
      int index = index(at);
      if (block(index) != null) {
        if (n == BLOCK) {
          blocks[index] = null;
          owned[index] = false;
          hashed[index] = false;
        } else {
          Arrays.fill(writable(index), inBlock, inBlock + n, (byte) 0);
        }
      }
      at += n;
    }
  }

  /**
   * Shares a block of another file without copying it. The size stays, so bytes of the block behind
   * the end become visible only with {@link #setSize}.
   *
   * @param source the file with the block
   * @param index the block's number, at most one for which {@link #setSize} made room
   */
  public void share(FileContent source, int index) {
    if (index < source.blocks.length) {
      source.owned[index] = false;
      blocks[index] = source.blocks[index];
      hashes[index] = source.hashes[index];
      hashed[index] = source.hashed[index];
    } else {
      blocks[index] = null;
      hashed[index] = false;
    }
    owned[index] = false;
  }

  /**
   * Returns a hash: equal for equal contents, and different for others except by chance.
   *
   * @return a 64-bit hash of size and bytes
   */
  public long hash() {
    long sum = Hash.mix(size);
    for (int i = 0; i < blocks.length; i++) {
      if (!hashed[i]) {
        byte[] block = blocks[i];
        hashes[i] = block == null || isZero(ByteBuffer.wrap(block), BLOCK) ? 0 : Hash.of(block, i);
        hashed[i] = true;
      }
      sum += hashes[i];
    }
    return sum;
  }

  private static boolean isZero(ByteBuffer source, int length) {
    return source.slice(source.position(), length).mismatch(ByteBuffer.wrap(ZEROS, 0, length)) < 0;
  }

  private static int index(long position) {
    return Math.toIntExact(position / BLOCK);
  }

  private byte @Nullable [] block(int index) {
    return index < blocks.length ? blocks[index] : null;
  }

  private byte[] writable(int index) {
    byte[] block = blocks[index];
    if (block == null) {
      block = new byte[BLOCK];
    } else if (!owned[index]) {
      block = block.clone();
    }
    blocks[index] = block;
    owned[index] = true;
    hashed[index] = false;
    return block;
  }

  private void ensure(long bytes) {
    int needed = Math.toIntExact((bytes + BLOCK - 1) / BLOCK);
    if (needed > blocks.length) {
      int length = Math.max(needed, Math.min(blocks.length * 2, blocks.length + 4096));
      blocks = Arrays.copyOf(blocks, length);
      owned = Arrays.copyOf(owned, length);
      hashes = Arrays.copyOf(hashes, length);
      hashed = Arrays.copyOf(hashed, length);
    }
  }

  @Override
  public boolean equals(@Nullable Object other) {
    if (!(other instanceof FileContent file) || file.size != size) {
      return false;
    }
    int count = Math.max(blocks.length, file.blocks.length);
    for (int i = 0; i < count; i++) {
      byte[] mine = block(i);
      byte[] theirs = file.block(i);
      if (!Arrays.equals(mine == null ? ZEROS : mine, theirs == null ? ZEROS : theirs)) {
        return false;
      }
    }
    return true;
  }

  @Override
  public int hashCode() {
    return Objects.hash(size, hash());
  }
}
