package org.revenantdb.chaos.agent;

import java.io.FileDescriptor;
import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;

/**
 * Methods of {@code java.base} that the recorder uses itself. Its calls are not seen by the agent.
 *
 * <p>Threads: any.
 */
public final class Internals {

  private static final String DISPATCHER = "sun.nio.ch.FileDispatcherImpl";
  private static final boolean WINDOWS = System.getProperty("os.name").startsWith("Windows");

  private final VarHandle number;
  private final VarHandle handle;
  private final MethodHandle seek;
  private final MethodHandle size;
  private final MethodHandle read;

  private Internals(
      VarHandle number, VarHandle handle, MethodHandle seek, MethodHandle size, MethodHandle read) {
    this.number = number;
    this.handle = handle;
    this.seek = seek;
    this.size = size;
    this.read = read;
  }

  /**
   * Opens what is needed.
   *
   * @throws ReflectiveOperationException if this JDK has no such method
   */
  static Internals open(Instrumentation instrumentation) throws ReflectiveOperationException {
    Module mine = Internals.class.getModule();
    instrumentation.redefineModule(
        Object.class.getModule(),
        Set.of(),
        Map.of(),
        Map.of("java.io", Set.of(mine), "sun.nio.ch", Set.of(mine), "sun.nio.fs", Set.of(mine)),
        Set.of(),
        Map.of());
    Lookup io = MethodHandles.privateLookupIn(FileDescriptor.class, MethodHandles.lookup());
    return new Internals(
        io.findVarHandle(FileDescriptor.class, "fd", int.class),
        io.findVarHandle(FileDescriptor.class, "handle", long.class),
        inDispatcher("seek0", long.class, FileDescriptor.class, long.class),
        inDispatcher("size0", long.class, FileDescriptor.class),
        inDispatcher("pread0", int.class, FileDescriptor.class, long.class, int.class, long.class));
  }

  private static MethodHandle inDispatcher(String name, Class<?> result, Class<?>... arguments)
      throws ReflectiveOperationException {
    Class<?> type = Class.forName(DISPATCHER);
    for (Class<?> at = type; at != null; at = at.getSuperclass()) {
      for (Method method : at.getDeclaredMethods()) {
        if (method.getName().equals(name)
            && method.getReturnType() == result
            && Arrays.equals(method.getParameterTypes(), arguments)) {
          method.setAccessible(true);
          return MethodHandles.lookup().unreflect(method);
        }
      }
    }
    throw new NoSuchMethodException("there is no method " + DISPATCHER + "." + name);
  }

  /**
   * Returns a constant of the operating system.
   *
   * @param name as in {@code fcntl.h}
   * @return its value
   * @throws ReflectiveOperationException if this JDK does not have it
   */
  public static int constant(String name) throws ReflectiveOperationException {
    var field = Class.forName("sun.nio.fs.UnixConstants").getDeclaredField(name);
    field.setAccessible(true);
    return field.getInt(null);
  }

  /**
   * Returns what identifies an open file in this process.
   *
   * @param file open
   * @return the descriptor, on Windows the handle
   */
  public long numberOf(FileDescriptor file) {
    return WINDOWS ? (long) handle.get(file) : (int) number.get(file);
  }

  /**
   * Makes an object for a descriptor, which must not be closed.
   *
   * @param of a descriptor, on Windows a handle
   * @return the object
   */
  public FileDescriptor descriptor(long of) {
    FileDescriptor made = new FileDescriptor();
    if (WINDOWS) {
      handle.set(made, of);
    } else {
      number.set(made, (int) of);
    }
    return made;
  }

  /**
   * Returns the position of an open file.
   *
   * @param file open
   * @return in bytes
   * @throws Throwable if it has none
   */
  public long position(FileDescriptor file) throws Throwable {
    return (long) seek.invokeExact(file, -1L);
  }

  /**
   * Returns the size of an open file.
   *
   * @param file open
   * @return in bytes
   * @throws Throwable if it has none
   */
  public long size(FileDescriptor file) throws Throwable {
    return (long) size.invokeExact(file);
  }

  /**
   * Reads from an open file.
   *
   * @param file open
   * @param to an address
   * @param length the most bytes
   * @param from the position in the file
   * @return how many bytes were read, or a negative number
   * @throws Throwable if it cannot be read
   */
  public int read(FileDescriptor file, long to, int length, long from) throws Throwable {
    return (int) read.invokeExact(file, to, length, from);
  }
}
