# cmake -DSOURCE=DIR -DWORDED=LIST -Dxgettext=... -Dmsgmerge=... -Dmsgfmt=... -P translations.cmake: all words can be gathered, and
# every translation fits the words of today: what it translates has the same formats. Says how much is translated.
set(pot translations-test.pot)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result ERROR_VARIABLE said)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${said}")
  endif()
  set(said "${said}" PARENT_SCOPE)
endfunction()

run(${xgettext} --language=C --from-code=UTF-8 --keyword=_ --keyword=N_ --keyword=ngettext:1,2 --directory=${SOURCE}
    --files-from=${WORDED} --output=${pot})
if(said)
  message(FATAL_ERROR "${said}")
endif()
file(STRINGS ${pot} words REGEX "^msgid ")
list(LENGTH words count)
if(count LESS 900)
  message(FATAL_ERROR "only ${count} words were found")
endif()
file(GLOB translations ${SOURCE}/assets/translations/*.po)
foreach(po ${translations})
  run(${msgmerge} --quiet --no-fuzzy-matching --output-file=translations-test.po ${po} ${pot})
  run(${msgfmt} --check-format --statistics --output-file=translations-test.mo translations-test.po)
  message(STATUS "${po}: ${said}")
endforeach()
