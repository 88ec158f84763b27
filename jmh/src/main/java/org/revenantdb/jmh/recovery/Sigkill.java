package org.revenantdb.jmh.recovery;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** A signal that no process survives, sent to this one, at this very moment. */
final class Sigkill {
  private static final int SIGKILL = 9;

  private final MethodHandle kill;
  private final int self = (int) ProcessHandle.current().pid();

  /** Found before it is wanted, so that sending it takes no time. */
  @SuppressWarnings("restricted") // the JVM is started with access to native code
  Sigkill() {
    Linker linker = Linker.nativeLinker();
    MemorySegment function = linker.defaultLookup().find("kill").orElseThrow();
    kill =
        linker.downcallHandle(
            function,
            FunctionDescriptor.of(
                ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
  }

  void send() {
    try {
      int failed = (int) kill.invokeExact(self, SIGKILL);
      throw new IllegalStateException("kill answered " + failed);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }
}
