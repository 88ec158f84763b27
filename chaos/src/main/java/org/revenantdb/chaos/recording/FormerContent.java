package org.revenantdb.chaos.recording;

import java.nio.ByteBuffer;
import java.util.List;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.FileContent;
import org.revenantdb.chaos.trace.Operation;

/**
 * The content of a file before the last write of each byte, for stale reads.
 *
 * <p>It is computed from the trace on request. That takes time and needs the trace, but costs
 * nothing without a request. A byte that was never written in the recording keeps its value. A byte
 * that was written once has its initial value, or zero.
 */
final class FormerContent {

  private FormerContent() {}

  /** The former bytes of a range. */
  static byte[] bytes(
      DiskImage start, int node, List<Operation> operations, long position, int length) {
    FileContent now =
        start.exists(node) && !start.isDirectory(node)
            ? start.file(node).copy()
            : new FileContent();
    FileContent former = now.copy();
    for (Operation operation : operations) {
      if (operation instanceof Operation.Write write) {
        former.write(
            write.offset(), ByteBuffer.wrap(now.bytes(write.offset(), write.data().length)));
        now.write(write.offset(), ByteBuffer.wrap(write.data()));
      } else if (operation instanceof Operation.Truncate cut) {
        now.setSize(cut.size());
      }
    }
    return former.bytes(position, length);
  }
}
