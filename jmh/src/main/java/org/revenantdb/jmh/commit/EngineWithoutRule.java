package org.revenantdb.jmh.commit;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.InvokeInstruction;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.revenantdb.engine.Database;

/**
 * Two classes of the engine without the rule that keeps durable readers from data that is not
 * durable, made from the engine's own compiled classes: reads inform no witness, and there is no
 * check for a wait. The engine has no switch for this, so this folder comes before it on a class
 * path.
 *
 * <p>Failure: {@link IllegalStateException} if the code to remove is missing: the engine has
 * changed, and this class must be adapted.
 */
public final class EngineWithoutRule {
  private static final String WITNESS = "org/revenantdb/engine/version/Witness";

  private EngineWithoutRule() {}

  /**
   * Writes them.
   *
   * @param folder for a class path
   * @throws IOException if it cannot
   */
  public static void write(Path folder) throws IOException {
    AtomicInteger taken = new AtomicInteger();
    write(folder, "org/revenantdb/engine/version/RowReader.class", withoutTelling(taken), taken);
    write(
        folder,
        "org/revenantdb/engine/session/TransactionCore.class",
        withoutWaiting(taken),
        taken);
  }

  private static void write(Path folder, String name, ClassTransform transform, AtomicInteger taken)
      throws IOException {
    byte[] bytes;
    try (InputStream original = Database.class.getClassLoader().getResourceAsStream(name)) {
      bytes = Objects.requireNonNull(original, name).readAllBytes();
    }
    taken.set(0);
    byte[] changed = ClassFile.of().transformClass(ClassFile.of().parse(bytes), transform);
    if (taken.get() == 0) {
      throw new IllegalStateException(name + " has nothing of the rule");
    }
    Path file = folder.resolve(name);
    Files.createDirectories(Objects.requireNonNull(file.getParent()));
    Files.write(file, changed);
  }

  private static ClassTransform withoutTelling(AtomicInteger taken) {
    return ClassTransform.transformingMethodBodies((code, element) -> {
      if (element instanceof InvokeInstruction call && isTelling(call)) {
        code.pop2().pop(); // the LSN, and the witness
        taken.incrementAndGet();
      } else {
        code.with(element);
      }
    });
  }

  private static boolean isTelling(InvokeInstruction call) {
    return call.owner().asInternalName().equals(WITNESS) && call.name().equalsString("saw");
  }

  private static ClassTransform withoutWaiting(AtomicInteger taken) {
    return (builder, element) -> {
      if (element instanceof MethodModel method
          && method.methodName().equalsString("awaitAnswer")) {
        builder.withMethodBody(
            method.methodName(),
            method.methodType(),
            method.flags().flagsMask(),
            code -> code.return_());
        taken.incrementAndGet();
      } else {
        builder.with(element);
      }
    };
  }
}
