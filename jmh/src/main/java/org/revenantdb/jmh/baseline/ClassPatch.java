package org.revenantdb.jmh.baseline;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.constant.ClassDesc;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Database;

/**
 * A compiled class of the engine with changes at some places, for a folder that comes before the
 * engine on a class path. So the engine needs no switch for a comparison.
 *
 * <p>Failure: {@link IllegalStateException} if the number of places differs from the expected one:
 * the engine has changed, and the patch must be adapted.
 */
final class ClassPatch {
  /**
   * The code for some places of a method.
   *
   * @param isPlace null if it is the method's beginning
   * @param places how many there are
   */
  private record Change(
      String method,
      String what,
      @Nullable Predicate<CodeElement> isPlace,
      int places,
      CodeTransform code) {

    int placesIn(MethodModel model) {
      return isPlace == null
          ? 1
          : (int) model.code().orElseThrow().elementStream().filter(isPlace).count();
    }
  }

  private final String name;
  private final List<Change> changes = new ArrayList<>();
  private final List<Consumer<ClassBuilder>> fields = new ArrayList<>();

  /**
   * Of a class, with nothing changed yet.
   *
   * @param name its full name
   */
  ClassPatch(String name) {
    this.name = name;
  }

  /** Adds a private field. */
  ClassPatch field(String field, ClassDesc type) {
    fields.add(builder -> builder.withField(field, type, ClassFile.ACC_PRIVATE));
    return this;
  }

  /** Puts code before all that a method does. */
  ClassPatch atHead(String method, Consumer<CodeBuilder> code) {
    changes.add(
        new Change(
            method,
            "beginning",
            /* isPlace= */ null,
            1,
            new CodeTransform() {
              @Override
              public void atStart(CodeBuilder builder) {
                code.accept(builder);
              }

              @Override
              public void accept(CodeBuilder builder, CodeElement element) {
                builder.with(element);
              }
            }));
    return this;
  }

  /** Puts code before the one return of a method. */
  ClassPatch beforeReturn(String method, Consumer<CodeBuilder> code) {
    return insteadOf(
        method,
        "return",
        1,
        element -> element instanceof ReturnInstruction,
        (builder, element) -> {
          code.accept(builder);
          builder.with(element);
        });
  }

  /** Replaces calls, whose arguments are on the stack, by code. */
  ClassPatch insteadOfCalls(
      String method, String owner, String called, int places, Consumer<CodeBuilder> code) {
    return insteadOf(
        method,
        "call of " + called,
        places,
        isCall(owner, called),
        (builder, _) -> code.accept(builder));
  }

  /** Inserts code before calls, whose arguments are on the stack. */
  ClassPatch beforeCalls(
      String method, String owner, String called, int places, Consumer<CodeBuilder> code) {
    return insteadOf(
        method,
        "call of " + called,
        places,
        isCall(owner, called),
        (builder, element) -> {
          code.accept(builder);
          builder.with(element);
        });
  }

  private static Predicate<CodeElement> isCall(String owner, String called) {
    String internal = owner.replace('.', '/');
    return element ->
        element instanceof InvokeInstruction call
            && call.owner().asInternalName().equals(internal)
            && call.name().equalsString(called);
  }

  private ClassPatch insteadOf(
      String method, String what, int places, Predicate<CodeElement> isPlace, CodeTransform code) {
    changes.add(
        new Change(
            method,
            what,
            isPlace,
            places,
            (builder, element) -> {
              if (isPlace.test(element)) {
                code.accept(builder, element);
              } else {
                builder.with(element);
              }
            }));
    return this;
  }

  /** Writes the changed class. */
  void write(Path folder) throws IOException {
    String resource = name.replace('.', '/') + ".class";
    byte[] bytes;
    try (InputStream original = Database.class.getClassLoader().getResourceAsStream(resource)) {
      bytes = Objects.requireNonNull(original, resource).readAllBytes();
    }
    Path file = folder.resolve(resource);
    Files.createDirectories(Objects.requireNonNull(file.getParent()));
    Files.write(file, apply(bytes));
  }

  /** The class with its changes. */
  byte[] apply(byte[] original) {
    ClassModel model = ClassFile.of().parse(original);
    for (Change change : changes) {
      int found =
          model.methods().stream()
              .filter(method -> method.methodName().equalsString(change.method()))
              .mapToInt(change::placesIn)
              .sum();
      if (found != change.places()) {
        throw new IllegalStateException(
            "%s.%s has %d places '%s', not %d: the engine has changed, and its variant must"
                .formatted(name, change.method(), found, change.what(), change.places()));
      }
    }
    ClassTransform transform =
        ClassTransform.endHandler(builder -> fields.forEach(field -> field.accept(builder)));
    for (Change change : changes) {
      transform =
          transform.andThen(
              ClassTransform.transformingMethods(
                  method -> method.methodName().equalsString(change.method()),
                  MethodTransform.transformingCode(change.code())));
    }
    return ClassFile.of().transformClass(model, transform);
  }
}
