package org.revenantdb.chaos.run;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.List;

/**
 * Stack frames as bytes, for another JVM. Their text is the same there; names of class loaders and
 * versions of modules are not kept.
 */
final class StackCodec {

  private static final int FRAMES = 100;

  private StackCodec() {}

  /** Writes the innermost frames. */
  static void write(List<StackTraceElement> stack, DataOutput target) throws IOException {
    int count = Math.min(FRAMES, stack.size());
    target.writeInt(count);
    for (StackTraceElement frame : stack.subList(0, count)) {
      String module = frame.getModuleName();
      target.writeUTF(module == null ? "" : module);
      target.writeUTF(frame.getClassName());
      target.writeUTF(frame.getMethodName());
      String file = frame.getFileName();
      target.writeUTF(file == null ? "" : file);
      target.writeInt(frame.getLineNumber());
    }
  }

  static StackTraceElement[] read(DataInput source) throws IOException {
    StackTraceElement[] frames = new StackTraceElement[source.readInt()];
    for (int i = 0; i < frames.length; i++) {
      String module = source.readUTF();
      String className = source.readUTF();
      String method = source.readUTF();
      String file = source.readUTF();
      frames[i] =
          new StackTraceElement(
              /* classLoaderName= */ null,
              module.isEmpty() ? null : module,
              /* moduleVersion= */ null,
              className,
              method,
              file.isEmpty() ? null : file,
              source.readInt());
    }
    return frames;
  }
}
