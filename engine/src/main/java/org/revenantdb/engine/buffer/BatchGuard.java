package org.revenantdb.engine.buffer;

import java.lang.foreign.MemorySegment;
import org.revenantdb.recovery.file.DoubleWriteFile;
import org.revenantdb.recovery.format.PageChecksum;

/**
 * Seals a batch of pages and keeps it complete while the pages are written to their places, so that
 * a torn page can be repaired (rule R24).
 */
public interface BatchGuard {
  /** Only seals: for devices that write a page whole or not at all. */
  BatchGuard NONE =
      new BatchGuard() {
        @Override
        public void write(int[] pageIds, int count, MemorySegment images) {
          for (int i = 0; i < count; i++) {
            PageChecksum.seal(
                images.asSlice((long) i * BufferPool.PAGE_SIZE, BufferPool.PAGE_SIZE));
          }
        }

        @Override
        public void confirm() {}
      };

  /**
   * Returns a guard that uses the double-write file.
   *
   * @param file restored, ready for the next batch
   * @return the guard
   */
  static BatchGuard of(DoubleWriteFile file) {
    return new BatchGuard() {
      @Override
      public int roomFor(int wanted) {
        return file.roomFor(wanted);
      }

      @Override
      public void leaveOut(int[] pageIds, int from, int to) {
        file.leaveOut(pageIds, from, to);
      }

      @Override
      public void write(int[] pageIds, int count, MemorySegment images) {
        file.writeBatch(count, pageIds, images);
      }

      @Override
      public void confirm() {
        file.confirm();
      }
    };
  }

  /**
   * Returns how many pages the next batch can have.
   *
   * @param wanted the number of pages there are
   * @return that number, or fewer if the disk is full; at least one
   */
  default int roomFor(int wanted) {
    return wanted;
  }

  /**
   * Prepares for a write of pages that are not in a batch. Afterwards no batch on the medium names
   * one of them.
   *
   * @param pageIds pages
   * @param from the index of the first one
   * @param to the index behind the last one
   */
  default void leaveOut(int[] pageIds, int from, int to) {}

  /**
   * Seals a batch, stores it and forces it.
   *
   * @param pageIds the pages, ascending
   * @param count the number of pages
   * @param images their bytes, one after the other
   */
  void write(int[] pageIds, int count, MemorySegment images);

  /** Notes that the pages of the last batch are forced in the data file. */
  void confirm();
}
